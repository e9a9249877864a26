import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const longAgo = new Date('2001-02-03T04:05:06Z');
const notSoLongAgo = new Date('2002-03-04T05:06:07Z');

export type Canary = ReturnType<typeof plantCanary>;

/**
 * Makes a directory that nothing may read or change. Its files hold `secret`. Only a program that lists the directory
 * can know the name `unlisted`. `changes` reports what is not as it was planted.
 */
export function plantCanary(path: string) {
  const secret = `secret-${randomBytes(12).toString('hex')}`;
  const unlisted = `unlisted-${randomBytes(12).toString('hex')}`;
  const modes = { 'secret.txt': 0o644, 'deep/key.txt': 0o600, 'deep/run.sh': 0o755, [unlisted]: 0o444 };
  mkdirSync(join(path, 'deep'), { recursive: true });
  mkdirSync(join(path, 'empty'));
  symlinkSync('secret.txt', join(path, 'link'));
  for (const [name, mode] of Object.entries(modes)) {
    writeFileSync(join(path, name), `${secret}\n${secret}\n`);
    chmodSync(join(path, name), mode);
    // An access time before the modification time makes the next read update it, on a disk with the usual mount
    // options.
    utimesSync(join(path, name), longAgo, notSoLongAgo);
  }
  for (const name of ['deep', 'empty', '.']) utimesSync(join(path, name), longAgo, notSoLongAgo);

  const before = takePicture(path);
  return {
    path,
    secret,
    unlisted,
    /** Returns an empty list if nothing has happened to the directory. */
    changes(): string[] {
      const now = takePicture(path);
      return [...new Set([...Object.keys(before), ...Object.keys(now)])]
        .filter((name) => before[name] !== now[name])
        .map((name) => `${name}: ${before[name] ?? 'absent'} → ${now[name] ?? 'absent'}`);
    },
  };
}

function takePicture(directory: string, name = '.'): Record<string, string> {
  const path = join(directory, name);
  const stats = lstatSync(path, { bigint: true });
  const { mode, uid, gid, nlink, size, mtimeNs, ctimeNs } = stats;
  const about = [mode.toString(8), uid, gid, nlink, size, mtimeNs, ctimeNs].join(' ');
  if (stats.isSymbolicLink()) return { [name]: `${about} ${readlinkSync(path)}` };
  if (!stats.isDirectory()) return { [name]: `${about} ${stats.atimeNs} ${hashUnseen(path)}` };
  const below = readdirSync(path).map((child) => takePicture(directory, join(name, child)));
  return Object.assign({ [name]: about }, ...below);
}

/** Reads without changing the access time. */
function hashUnseen(path: string): string {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOATIME);
  try {
    return createHash('sha256').update(readFileSync(handle)).digest('hex');
  } finally {
    closeSync(handle);
  }
}
