import { type BigIntStats, fstatSync, mkdirSync } from 'node:fs';
import { copyTraits } from '../files/copy-tree.ts';
import { statEntry } from '../files/directory-entries.ts';

interface SeedLayers {
  readonly workspaceFd: number;
  readonly base: number | undefined;
  /** Opened on demand: nearly everything is in the base. */
  steps(): readonly number[];
}

export type SeededDirectory = ReturnType<typeof createSeededDirectory>;

/** One directory in the workspace, in the layers and in the upper directory, where it is made once it is needed. */
export function createSeededDirectory(layers: SeedLayers, findPath: () => Buffer, isMade = false) {
  let path = isMade ? findPath() : undefined;
  function make(): Buffer {
    if (path) return path;
    path = findPath();
    mkdirSync(path, { mode: 0o700 });
    return path;
  }
  return {
    ...layers,
    make,
    inUpper: (name: Buffer) => Buffer.concat([make(), Buffer.from('/'), name]),
    /** Called last, because each entry that is put into a directory changes its time. */
    finish(): void {
      if (path) copyTraits(path, fstatSync(layers.workspaceFd));
    },
  };
}

/** Returns the stats of a file, a link or a directory. Forks contain nothing else. */
export function statForkable(directoryFd: number, name: Buffer): BigIntStats | undefined {
  const stats = statEntry(directoryFd, name);
  return stats && (stats.isFile() || stats.isSymbolicLink() || stats.isDirectory()) ? stats : undefined;
}

/** Returns the stats of what the layers show. Layers that have the name agree on its kind. */
export function statShown({ base, steps }: SeedLayers, name: Buffer): BigIntStats | undefined {
  const shown = base === undefined ? undefined : statEntry(base, name);
  return shown ?? firstOf(steps(), name);
}

function firstOf(layers: readonly number[], name: Buffer): BigIntStats | undefined {
  for (const layer of layers) {
    const stats = statEntry(layer, name);
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
