import * as fs from 'node:fs';
import { expect } from 'vitest';
import type { FollowedTree, Sighting } from '../../src/init/followed-tree.ts';
import { pathFromBytes } from '../../src/lib/files/path-bytes.ts';

type Line = string;

/** Builds the state of a tree from the follower's answers alone. */
export function createMirror(following: FollowedTree, { isChanging = false } = {}) {
  const entries = new Map<string, Line>();
  return {
    entries,
    async take() {
      const taken = await following.take();
      if (taken.isWhole) entries.clear();
      const unlisted = new Set<string>();
      for (const sighting of taken.sightings) {
        unlisted.delete(sighting.path);
        if (sighting.kind === 'listed') for (const path of namesIn(entries, sighting.path)) unlisted.add(path);
        else see(entries, sighting, isChanging);
      }
      for (const path of unlisted) see(entries, { ...gone, path }, isChanging);
      return taken;
    },
  };
}

const gone = { kind: 'gone', mode: 0, size: 0, inode: 0n, mtimeNs: 0n, ctimeNs: 0n } as const;

function namesIn(entries: Map<string, Line>, directory: string): string[] {
  const prefix = directory === '' ? '' : `${directory}/`;
  return [...entries.keys()].filter((path) => path.startsWith(prefix) && !path.slice(prefix.length).includes('/'));
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

/** Times and sizes of directories are not followed; their entries are. */
function toLine({ kind, mode, size, inode, mtimeNs, ctimeNs }: Omit<Sighting, 'path'>): Line {
  return kind === 'directory' ? [kind, mode, inode].join() : [kind, mode, size, inode, mtimeNs, ctimeNs].join();
}

/** Lists what is really on the disk. */
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
  // Comparing thousands of lines by `expect` takes seconds.
  if (toText(mirror) !== expected) expect(toText(mirror)).toBe(expected);
}

/** Finds the follower processes of this process. A dead one is replaced, which shows only here. */
export function findFollowers(): number[] {
  return fs
    .readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '' && fs.readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--follow'))
    .map(Number);
}
