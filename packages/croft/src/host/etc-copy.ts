import { statSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeTemporaryDirectory, tryRemoveTemporaryDirectory } from '../lib/files/temporary-directory.ts';
import { packageDirectory } from '../lib/package-directory.ts';

export const ownEtcDirectory = join(packageDirectory, 'native/etc');

/** Entries of /etc that programs need, and nothing about this machine or its people. */
const systemSettings = [
  ...['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'protocols', 'services'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'pki/tls', 'pki/ca-trust', 'crypto-policies', 'fonts'],
  ...['java-17-openjdk', 'java-21-openjdk', 'maven', 'gradle', 'python3', 'perl', 'R', 'php', 'terminfo', 'magic'],
];
const ownSettings = ['passwd', 'group', 'hosts', 'nsswitch.conf', 'gitconfig'];

/** The visible entries of /etc, with their source. */
export const visibleEtcEntries: ReadonlyMap<string, string> = new Map([
  ...systemSettings.map((name) => [name, `/etc/${name}`] as const),
  ...ownSettings.map((name) => [name, join(ownEtcDirectory, name)] as const),
]);

/** The copy is renewed after a day, because programs that clean /tmp remove older files. */
const freshMs = 24 * 3_600_000;

interface Copy {
  /** `undefined` if copying failed, which is not tried again for every sandbox. */
  readonly directory: string | undefined;
  readonly stamp: string;
  readonly madeAt: number;
}

/**
 * Returns a function that gives a directory with copies of the visible entries of /etc: one mount instead of many, each
 * of which takes time. The copy is made in the background from the second call on and again when a source changes;
 * until it is ready the function returns `undefined`. A program that opens a single sandbox makes no copy.
 */
export function createEtcCopy(settings = visibleEtcEntries): () => string | undefined {
  let [asked, isMaking] = [0, false];
  let copy: Copy | undefined;
  const renew = async (stamp: string, old = copy?.directory) => {
    isMaking = true;
    const directory = await copyAll(settings).catch(() => undefined);
    copy = { directory, stamp, madeAt: Date.now() };
    isMaking = false;
    // Open sandboxes keep the files that are mounted in them.
    if (old !== undefined) tryRemoveTemporaryDirectory(old);
  };
  return () => {
    const stamp = stampOf(settings);
    if (copy?.stamp === stamp && Date.now() - copy.madeAt < freshMs && isWhole(copy)) return copy.directory;
    if (++asked > 1 && !isMaking) void renew(stamp);
    return undefined;
  };
}

async function copyAll(settings: ReadonlyMap<string, string>): Promise<string | undefined> {
  const directory = makeTemporaryDirectory('etc');
  try {
    await chmod(directory, 0o755);
    for (const [name, source] of settings) await copyOne(source, join(directory, name));
    return directory;
  } catch {
    tryRemoveTemporaryDirectory(directory);
    return undefined;
  }
}

async function copyOne(source: string, target: string): Promise<void> {
  const stats = statSync(source, { throwIfNoEntry: false });
  if (!stats) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  // A link itself may lead to a path that is missing in the sandbox, so its target is copied. Links in a directory lead
  // to each other or to /usr, and stay links.
  if (stats.isDirectory()) await cp(source, target, { recursive: true, verbatimSymlinks: true });
  else await copyFile(source, target);
}

function stampOf(settings: ReadonlyMap<string, string>): string {
  return [...settings.values()]
    .map((source) => statSync(source, { throwIfNoEntry: false }))
    .map((stats) => (stats ? `${stats.ino}:${stats.mtimeMs}:${stats.size}` : ''))
    .join();
}

function isWhole({ directory }: Copy): boolean {
  return directory === undefined || statSync(join(directory, 'passwd'), { throwIfNoEntry: false }) !== undefined;
}
