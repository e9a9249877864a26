import * as fs from 'node:fs';
import { expect } from 'vitest';
import type { Following, Sighting } from '../src/init/following.ts';
import { pathFromBytes } from '../src/lib/path-bytes.ts';

type Line = string;

/** What somebody knows who has nothing but the takes. */
export function createMirror(following: Following, { isChanging = false } = {}) {
  const entries = new Map<string, Line>();
  return {
    entries,
    async take() {
      const taken = await following.take();
      if (taken.isWhole) entries.clear();
      for (const sighting of taken.sightings) see(entries, sighting, isChanging);
      return taken;
    },
  };
}

function see(entries: Map<string, Line>, sighting: Sighting, isChanging: boolean): void {
  const { path } = sighting;
  const isBelow = (other: string) => other.startsWith(`${path}/`);
  const wasDirectory = entries.get(path)?.startsWith('directory');
  if (sighting.kind !== 'directory' && wasDirectory)
    for (const other of entries.keys()) if (isBelow(other)) entries.delete(other);
  if (sighting.kind === 'gone') entries.delete(path);
  else entries.set(path, toLine(sighting));
  if (isChanging) return;
  const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
  const isIn = parent === '' || sighting.kind === 'gone' || entries.get(parent)?.startsWith('directory');
  if (!isIn) throw new Error(`${path} is told before what it is in`);
}

/** Times and sizes of directories are not followed: what comes and goes in them is. */
function toLine({ kind, mode, size, inode, mtimeNs, ctimeNs }: Omit<Sighting, 'path'>): Line {
  return kind === 'directory' ? [kind, mode, inode].join() : [kind, mode, size, inode, mtimeNs, ctimeNs].join();
}

/** What is really there. */
export function walk(root: string): Map<string, Line> {
  const found = new Map<string, Line>();
  const visit = (directory: Buffer, prefix: string) => {
    for (const name of fs.readdirSync(directory, { encoding: 'buffer' })) {
      const file = Buffer.concat([directory, Buffer.from('/'), name]);
      const stat = fs.lstatSync(file, { bigint: true });
      const path = prefix + pathFromBytes(name);
      const { ino: inode, mtimeNs, ctimeNs } = stat;
      const kind = kindOf(stat);
      found.set(
        path,
        toLine({ kind, mode: Number(stat.mode & 0o7777n), size: Number(stat.size), inode, mtimeNs, ctimeNs }),
      );
      if (kind === 'directory') visit(file, `${path}/`);
    }
  };
  visit(Buffer.from(root), '');
  return found;
}

function kindOf(stat: fs.BigIntStats): Sighting['kind'] {
  if (stat.isFile()) return 'file';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isDirectory() ? 'directory' : 'other';
}

const toText = (entries: Map<string, Line>) =>
  [...entries]
    .map((entry) => entry.join(' '))
    .sort()
    .join('\n');

export function expectSame(mirror: Map<string, Line>, root: string): void {
  const expected = toText(walk(root));
  // To compare by `expect` takes seconds where there are thousands.
  if (toText(mirror) !== expected) expect(toText(mirror)).toBe(expected);
}

/** The processes that follow for this one. One that dies is replaced, which only shows here. */
export function findFollowers(): number[] {
  return fs
    .readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '' && fs.readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--follow'))
    .map(Number);
}
