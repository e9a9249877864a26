import { type BigIntStats, closeSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { LayerChanges } from '../../core/history/ports/layers.ts';
import { emptyTreeHash, type PathChange, type TreeEntry, type TreePath } from '../../core/history/ports/tree.ts';
import { isSameAtPath } from '../../core/history/trees/carry-out-plan.ts';
import { openDirectory } from '../../disk/paths/handles.ts';
import { createTurns } from '../../lib/concurrency/turns.ts';
import { pathFromBytes } from '../../lib/files/path-bytes.ts';
import { readEntry, readNames, statEntry } from '../files/directory-entries.ts';
import { createContentBatches } from '../store/content-batches.ts';

export interface LayerSides {
  /** Descriptor of the directory that the layer started as: a live workspace, which may have changed since. */
  readonly lower: number;
  readonly merged: number;
  /** Descriptor of the upper directory of an overlay, which has only what was written. `undefined` for a copy. */
  readonly upper: number | undefined;
  /** The kernel's clock when the layer was made: files in a copy that are not newer were not written in it. */
  readonly madeNs: bigint;
  /** The kernel's clock before the layer was made: files in the workspace that are newer were changed since. */
  readonly beganNs: bigint;
}

interface FindLayerChangesOptions {
  readonly store: Pick<HistoryStore, 'put' | 'quota'>;
  readonly maxPaths: number;
  /** Limit for the written files. Default: no limit. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Side = 'lower' | 'merged' | 'upper';
type SideFds = { readonly [side in Side]?: number | undefined };

/** One directory, by its descriptor on each side that has it. */
interface ComparedDirectory extends SideFds {
  readonly path: TreePath;
  readonly depth: number;
  /** Whether the directory may have been moved inside the layer: the age of its entries then says nothing. */
  readonly isMoved: boolean;
  /**
   * Whether this directory is that of the lower side, and not a new one of the same name: then only entries of the
   * upper directory can differ.
   */
  readonly isOriginal: boolean;
}

const maxDepth = 300;
const hint =
  'The workspace was not changed. Let one transaction or fork change less at once, or make the changes in the workspace itself.';

/**
 * Finds the changes made in a layer. For an overlay the cost is that of the changes: an entry that is not in the upper
 * directory and has the inode of its namesake below is the same file. Contents are in the store when this returns.
 * Throws `E_TOO_LARGE`.
 */
export async function findLayerChanges(sides: LayerSides, options: FindLayerChangesOptions): Promise<LayerChanges> {
  const found = createFindings(sides, options);
  const takeTurns = createTurns(options.signal);

  async function visit(pair: ComparedDirectory): Promise<number> {
    if (pair.depth > maxDepth)
      throw new AppError('E_TOO_LARGE', `directories are nested more than ${maxDepth} deep`, { hint });
    const names = namesOf(pair);
    for (const name of names) {
      await takeTurns();
      await compare(pair, name);
    }
    return names.length;
  }

  async function compare(pair: ComparedDirectory, name: Buffer): Promise<void> {
    const [below, above, written] = [pair.lower, pair.merged, pair.upper].map((directoryFd) => stat(directoryFd, name));
    if (isUntouched(sides, pair, { below, above, isWritten: written !== undefined })) return;
    const path = pair.path === '' ? pathFromBytes(name) : `${pair.path}/${pathFromBytes(name)}`;
    if (below?.isDirectory() && above?.isDirectory()) {
      await enter(pair, name, path, ['lower', 'merged', 'upper']);
      return;
    }
    if (below?.isDirectory()) await enterOne(pair, name, path, 'lower');
    if (above?.isDirectory()) await enterOne(pair, name, path, 'merged');
    await found.compare(pair, name, path, below);
  }

  /** Enters a directory that only one side has. Its entries are the change, or the directory itself if it is empty. */
  async function enterOne(
    pair: ComparedDirectory,
    name: Buffer,
    path: TreePath,
    side: 'lower' | 'merged',
  ): Promise<void> {
    const stats = stat(pair[side], name);
    const inside = await enter(pair, name, path, [side]);
    if (inside > 0 || !stats) return;
    const entry: TreeEntry = { kind: 'directory', mode: Number(stats.mode) & 0o777, size: 0, hash: emptyTreeHash };
    found.push({ path, [side === 'lower' ? 'before' : 'after']: entry });
  }

  async function enter(
    pair: ComparedDirectory,
    name: Buffer,
    path: TreePath,
    wanted: readonly Side[],
  ): Promise<number> {
    const opened = wanted.map((side) => [side, open(pair[side], name)] as const);
    try {
      const [below, above] = [stat(pair.lower, name), stat(pair.merged, name)];
      const isMoved = pair.isMoved || isYounger(above, sides.madeNs);
      const isOriginal = wanted.includes('upper') && below?.ino === above?.ino;
      return await visit({ path, depth: pair.depth + 1, isMoved, isOriginal, ...Object.fromEntries(opened) });
    } finally {
      for (const [, handle] of opened) if (handle !== undefined) closeSync(handle);
    }
  }

  const { lower, merged, upper } = sides;
  await visit({ path: '', depth: 0, isMoved: false, isOriginal: false, lower, merged, upper });
  return found.finish();
}

interface SideStats {
  readonly below: BigIntStats | undefined;
  readonly above: BigIntStats | undefined;
  readonly isWritten: boolean;
}

function isYounger(stats: BigIntStats | undefined, thanNs: bigint): boolean {
  return stats !== undefined && stats.ctimeNs > thanNs;
}

function isUntouched(
  sides: LayerSides,
  { isMoved }: ComparedDirectory,
  { below, above, isWritten }: SideStats,
): boolean {
  // A file made in the workspace since, which the layer does not have, says nothing about the command.
  if (!above) return !isWritten && isYounger(below, sides.beganNs);
  // In an overlay a copied-up file keeps its inode, so its change shows in the upper directory; in a copy, the clock
  // shows it.
  if (sides.upper !== undefined) return !isWritten && below?.ino === above.ino;
  return !isMoved && !above.isDirectory() && !isYounger(above, sides.madeNs);
}

function createFindings({ beganNs }: LayerSides, options: FindLayerChangesOptions) {
  const { store, maxPaths, maxBytes = Number.POSITIVE_INFINITY, signal } = options;
  let bytes = 0;
  const changes: PathChange[] = [];
  const moved: TreePath[] = [];
  const batches = createContentBatches(store);

  function push(change: PathChange): void {
    changes.push(change);
    if (changes.length > maxPaths)
      throw new AppError('E_TOO_LARGE', `more than ${maxPaths} paths were changed`, { hint });
  }

  /**
   * Counts bytes before a file is read: a file of holes can have any size at no cost, but its stored content takes
   * space.
   */
  function countBytes(stats: BigIntStats | undefined): void {
    if (stats?.isFile()) bytes += Number(stats.size);
    if (bytes > maxBytes) throw new AppError('E_TOO_LARGE', `more than ${maxBytes} bytes were written`, { hint });
  }

  async function find(
    directoryFd: number | undefined,
    name: Buffer,
    isNeeded: boolean,
  ): Promise<TreeEntry | undefined> {
    if (directoryFd === undefined) return undefined;
    if (isNeeded) countBytes(orGone(() => statEntry(directoryFd, name)));
    const found = await readEntry(directoryFd, name, signal).catch(orNothing);
    if (!found) return undefined;
    const isInMemory = typeof found.content.bytes !== 'function';
    if (isNeeded || isInMemory) await batches.add(found.content);
    return found.entry;
  }

  return {
    push,

    async compare(
      compared: ComparedDirectory,
      name: Buffer,
      path: TreePath,
      below: BigIntStats | undefined,
    ): Promise<void> {
      const before = await find(compared.lower, name, false);
      const after = await find(compared.merged, name, true);
      if (isSameAtPath(before, after)) return;
      if (isYounger(below, beganNs)) moved.push(path);
      push({ path, ...(before && { before }), ...(after && { after }) });
    },

    async finish(): Promise<LayerChanges> {
      await batches.flush();
      return { changes: changes.sort((one, other) => (one.path < other.path ? -1 : 1)), alsoChanged: moved };
    },
  };
}

function namesOf({ lower, merged, upper, isOriginal }: ComparedDirectory): Buffer[] {
  if (isOriginal && upper !== undefined) return [...readNames(upper)];
  const names = new Map<string, Buffer>();
  for (const side of [lower, merged]) {
    if (side === undefined) continue;
    for (const name of readNames(side)) names.set(name.toString('latin1'), name);
  }
  return [...names.values()];
}

function stat(directoryFd: number | undefined, name: Buffer): BigIntStats | undefined {
  return directoryFd === undefined ? undefined : orGone(() => statEntry(directoryFd, name));
}

function open(directoryFd: number | undefined, name: Buffer): number | undefined {
  return directoryFd === undefined ? undefined : orGone(() => openDirectory(directoryFd, name));
}

/** The workspace may change meanwhile: an entry that is removed or replaced during the look counts as absent. */
function orGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    return orNothing(thrown);
  }
}

function orNothing(thrown: unknown): undefined {
  const { code = '' } = thrown as NodeJS.ErrnoException;
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ESTALE'].includes(code)) throw thrown;
}
