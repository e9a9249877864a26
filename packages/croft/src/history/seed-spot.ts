import { type BigIntStats, fstatSync, mkdirSync } from 'node:fs';
import { keepTraits } from './copy-tree.ts';
import { statAt } from './layer-entries.ts';

export interface Layers {
  readonly live: number;
  readonly base: number | undefined;
  /** Opened when it is asked for: nearly all is in the base. */
  steps(): readonly number[];
}

export type Spot = ReturnType<typeof createSpot>;

/** One directory on each side. In the upper one it is made when there is something to put into it. */
export function createSpot(layers: Layers, place: () => Buffer, isThere = false) {
  let path = isThere ? place() : undefined;
  function make(): Buffer {
    if (path) return path;
    path = place();
    mkdirSync(path, { mode: 0o700 });
    return path;
  }
  return {
    ...layers,
    make,
    inUpper: (name: Buffer) => Buffer.concat([make(), Buffer.from('/'), name]),
    /** Last, because each file that is put into a directory changes its time. */
    finish(): void {
      if (path) keepTraits(path, fstatSync(layers.live));
    },
  };
}

/** What is neither file, link nor directory is in no fork. */
export function thingAt(directory: number, name: Buffer): BigIntStats | undefined {
  const stats = statAt(directory, name);
  return stats && (stats.isFile() || stats.isSymbolicLink() || stats.isDirectory()) ? stats : undefined;
}

/** Where several have something they agree on what it is. */
export function shownBy({ base, steps }: Layers, name: Buffer): BigIntStats | undefined {
  const shown = base === undefined ? undefined : statAt(base, name);
  return shown ?? firstOf(steps(), name);
}

function firstOf(layers: readonly number[], name: Buffer): BigIntStats | undefined {
  for (const layer of layers) {
    const stats = statAt(layer, name);
    if (stats) return stats;
  }
  return undefined;
}

export function lazily<T>(find: () => readonly T[]): () => readonly T[] {
  let found: readonly T[] | undefined;
  return () => {
    found ??= find();
    return found;
  };
}
