import { lstatSync } from 'node:fs';
import type { TreePath } from '../../core/history/tree.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { createKeyedLock } from '../../lib/keyed-lock.ts';
import type { Ground } from './ground.ts';
import { fetchIncoming } from './incoming.ts';
import { keyOf, pathOf } from './keys.ts';
import { isGone, type Spot, withSpot } from './local-file.ts';
import type { Hole } from './manifest.ts';
import { createPlacing } from './place.ts';
import { note, rebase } from './settle.ts';
import { fileOf } from './spool.ts';

const fetchesAtATime = 4;

export type Holes = ReturnType<typeof createHoles>;

/**
 * Large files that have only been named so far. There are none but from the first opening of a workspace until something
 * runs in it: no command ever meets a hole, and none is ever committed.
 */
export function createHoles(ground: Ground) {
  const locks = createKeyedLock();
  const placing = createPlacing(ground.owner);
  const open = new Set(ground.manifest.holes());

  /** Brings the content to where the hole is, unless something else is there by now. */
  async function bring(key: string, signal?: AbortSignal): Promise<void> {
    const hole = ground.manifest.get(key)?.hole;
    const path = pathOf(key);
    if (!hole || path === undefined) return void open.delete(key);
    if (await withSpotOf(path, (spot) => isStill(spot, hole))) {
      const incoming = await fetchIncoming(ground, key, signal);
      await using held = incoming?.held;
      if (!held || !incoming) return forget(key);
      const file = await fileOf(held, ground.spool);
      await withSpotOf(path, (spot) => {
        if (isStill(spot, hole)) placing.move(file, spot, incoming.known.mode);
      });
      const base = await rebase(ground, [incoming]);
      ground.manifest.change(() => {
        note(ground, incoming);
        ground.manifest.setState({ base });
      });
      return void open.delete(key);
    }
    forget(key);
  }

  function forget(key: string): void {
    const known = ground.manifest.get(key);
    if (known) ground.manifest.put(key, { ...known, hole: undefined });
    open.delete(key);
  }

  async function withSpotOf<T>(path: TreePath, work: (spot: Spot) => T): Promise<T | undefined> {
    try {
      return await withSpot(ground.handle, path, work);
    } catch (thrown) {
      if (isGone(thrown)) return undefined;
      throw thrown;
    }
  }

  return {
    get size() {
      return open.size;
    },
    async materialize(paths: readonly TreePath[] | undefined, signal?: AbortSignal): Promise<void> {
      const keys = paths ? paths.map((path) => keyOf(path) ?? '').filter((key) => open.has(key)) : [...open];
      await inParallel(keys, fetchesAtATime, (key) => locks.run(key, () => bring(key, signal)));
    },
    /** Those at a path or below it. */
    at: (path: TreePath): TreePath[] =>
      [...open].flatMap((key) => pathOf(key) ?? []).filter((each) => isWithin(each, path)),
  };
}

function isWithin(path: TreePath, directory: TreePath): boolean {
  return directory === '' || path === directory || path.startsWith(`${directory}/`);
}

function isStill(spot: Spot, { inode, mtimeNs }: Hole): boolean {
  const stats = lstatSync(spot, { bigint: true });
  return String(stats.ino) === inode && String(stats.mtimeNs) === mtimeNs;
}
