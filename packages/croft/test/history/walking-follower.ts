import { closeSync, lstatSync, readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { at, openDirectory, reopenDirectory } from '../../src/disk/paths/handles.ts';
import type { Follower, Sighting } from '../../src/init/followed-tree.ts';
import { pathFromBytes } from '../../src/lib/files/path-bytes.ts';

const maxDepth = 1000;
const entriesPerTurn = 500;

/** A follower that scans everything each time, to compare the real follower with. */
export function createWalkingFollower(): Follower {
  return {
    async open(directory) {
      const root = reopenDirectory(directory);
      return {
        async take() {
          const atNs = BigInt(Date.now()) * 1_000_000n;
          return { isWhole: true, sightings: await scanAll(root), atNs };
        },
        onChange: () => ({ [Symbol.dispose]() {} }),
        close: () => closeSync(root),
      };
    },
  };
}

async function scanAll(root: number): Promise<Sighting[]> {
  const found: Sighting[] = [];
  const device = lstatSync(`/proc/self/fd/${root}/.`, { bigint: true }).dev;
  let entries = 0;

  async function walk(directory: number, prefix: string, depth: number): Promise<void> {
    const names = readdirSync(`/proc/self/fd/${directory}`, { encoding: 'buffer' });
    for (const name of names) {
      if (++entries % entriesPerTurn === 0) await setImmediate();
      const path = prefix + pathFromBytes(name);
      const stats = lstatSync(at(directory, name), { bigint: true, throwIfNoEntry: false });
      if (!stats) continue;
      found.push(toSighting(path, stats));
      if (stats.isDirectory() && stats.dev === device && depth < maxDepth)
        await enter(directory, name, (below) => walk(below, `${path}/`, depth + 1));
    }
  }
  await enter(root, '.', (directory) => walk(directory, '', 0));
  return found;
}

/** Entries that disappear or change meanwhile are seen the next time. */
async function enter(parent: number, name: string | Buffer, work: (directory: number) => Promise<void>): Promise<void> {
  let directory: number;
  try {
    directory = openDirectory(parent, name);
  } catch {
    return;
  }
  try {
    await work(directory);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && ['ENOENT', 'EACCES'].includes(String(thrown.code))))
      throw thrown;
  } finally {
    closeSync(directory);
  }
}

function toSighting(path: string, stats: import('node:fs').BigIntStats): Sighting {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'other';
  return {
    path,
    kind,
    mode: Number(stats.mode & 0o777n),
    size: Number(stats.size),
    inode: stats.ino,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
  };
}
