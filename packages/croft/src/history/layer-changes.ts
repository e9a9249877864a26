import { type BigIntStats, closeSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { LayerChanges } from '../core/history/layers.ts';
import type { HistoryStore } from '../core/history/store.ts';
import { emptyRoot, type PathChange, type TreeEntry, type TreePath } from '../core/history/tree.ts';
import { isSame } from '../core/history/tree-change.ts';
import { openDirectory } from '../disk/handles.ts';
import { pathFromBytes } from '../lib/path-bytes.ts';
import { createContentBatches } from './content-batches.ts';
import { findEntry, namesNow, statAt } from './layer-entries.ts';

export interface LayerSides {
  /** What the layer started as: a live workspace, which may have gone on. */
  readonly lower: number;
  readonly merged: number;
  /** Only what was written, where the layer is an overlay. */
  readonly upper: number | undefined;
  /** By the kernel's clock: what is in a copy and not newer was not written in it. */
  readonly madeNs: bigint;
  /** By the same clock: what is in the workspace and newer was changed since. */
  readonly beganNs: bigint;
}

export interface FindOptions {
  readonly store: HistoryStore;
  readonly maxPaths: number;
  /** Of files that were written. Left out: any. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Side = 'lower' | 'merged' | 'upper';
type Handles = { readonly [side in Side]?: number | undefined };

/** One directory on each side that has it. */
interface Spot extends Handles {
  readonly path: TreePath;
  readonly depth: number;
  /** Whether it may have been elsewhere in the layer before: then the age of what is in it says nothing. */
  readonly isMoved: boolean;
  /** Whether it is the very directory below, and not another in its place: only what was written can differ then. */
  readonly isOriginal: boolean;
}

const maxDepth = 300;
const sliceMs = 5;

/**
 * What was done in a layer, at a cost of what was done where it is an overlay: what is not in its upper directory and has
 * the inode of its namesake below is that very file. Contents are in the store when this returns. Throws `E_TOO_LARGE`.
 */
export async function findLayerChanges(sides: LayerSides, options: FindOptions): Promise<LayerChanges> {
  const found = createFindings(sides, options);
  const takeTurns = createTurns(options.signal);

  async function visit(spot: Spot): Promise<number> {
    if (spot.depth > maxDepth) throw new AppError('E_TOO_LARGE', `directories are nested more than ${maxDepth} deep`);
    const names = namesOf(spot);
    for (const name of names) {
      await takeTurns();
      await compare(spot, name);
    }
    return names.length;
  }

  async function compare(spot: Spot, name: Buffer): Promise<void> {
    const [below, above, written] = [spot.lower, spot.merged, spot.upper].map((directory) => stat(directory, name));
    if (isUntouched(sides, spot, { below, above, isWritten: written !== undefined })) return;
    const path = spot.path === '' ? pathFromBytes(name) : `${spot.path}/${pathFromBytes(name)}`;
    if (below?.isDirectory() && above?.isDirectory()) {
      await enter(spot, name, path, ['lower', 'merged', 'upper']);
      return;
    }
    if (below?.isDirectory()) await enterOne(spot, name, path, 'lower');
    if (above?.isDirectory()) await enterOne(spot, name, path, 'merged');
    await found.compare(spot, name, path, below);
  }

  /** A directory that is on one side only is what is in it, or itself if that is nothing. */
  async function enterOne(spot: Spot, name: Buffer, path: TreePath, side: 'lower' | 'merged'): Promise<void> {
    const stats = stat(spot[side], name);
    const inside = await enter(spot, name, path, [side]);
    if (inside > 0 || !stats) return;
    const entry: TreeEntry = { kind: 'directory', mode: Number(stats.mode) & 0o777, size: 0, hash: emptyRoot };
    found.push({ path, [side === 'lower' ? 'before' : 'after']: entry });
  }

  async function enter(spot: Spot, name: Buffer, path: TreePath, wanted: readonly Side[]): Promise<number> {
    const opened = wanted.map((side) => [side, open(spot[side], name)] as const);
    try {
      const [below, above] = [stat(spot.lower, name), stat(spot.merged, name)];
      const isMoved = spot.isMoved || isYounger(above, sides.madeNs);
      const isOriginal = wanted.includes('upper') && below?.ino === above?.ino;
      return await visit({ path, depth: spot.depth + 1, isMoved, isOriginal, ...Object.fromEntries(opened) });
    } finally {
      for (const [, handle] of opened) if (handle !== undefined) closeSync(handle);
    }
  }

  const { lower, merged, upper } = sides;
  await visit({ path: '', depth: 0, isMoved: false, isOriginal: false, lower, merged, upper });
  return found.finish();
}

interface Look {
  readonly below: BigIntStats | undefined;
  readonly above: BigIntStats | undefined;
  readonly isWritten: boolean;
}

function isYounger(stats: BigIntStats | undefined, thanNs: bigint): boolean {
  return stats !== undefined && stats.ctimeNs > thanNs;
}

function isUntouched(sides: LayerSides, { isMoved }: Spot, { below, above, isWritten }: Look): boolean {
  // What was made in the workspace since and is not in the layer says nothing about the command.
  if (!above) return !isWritten && isYounger(below, sides.beganNs);
  // In an overlay a copied file keeps its inode, so that alone does not tell; in a copy the clock does.
  if (sides.upper !== undefined) return !isWritten && below?.ino === above.ino;
  return !isMoved && !above.isDirectory() && !isYounger(above, sides.madeNs);
}

function createFindings({ beganNs }: LayerSides, options: FindOptions) {
  const { store, maxPaths, maxBytes = Number.POSITIVE_INFINITY, signal } = options;
  let bytes = 0;
  const changes: PathChange[] = [];
  const moved: TreePath[] = [];
  const batches = createContentBatches(store);

  function push(change: PathChange): void {
    changes.push(change);
    if (changes.length > maxPaths) throw new AppError('E_TOO_LARGE', `more than ${maxPaths} paths were changed`);
  }

  /** Before it is read: a file of holes has any size at no cost, and what is kept of it has not. */
  function takeRoom(stats: BigIntStats | undefined): void {
    if (stats?.isFile()) bytes += Number(stats.size);
    if (bytes > maxBytes) throw new AppError('E_TOO_LARGE', `more than ${maxBytes} bytes were written`);
  }

  async function find(directory: number | undefined, name: Buffer, isNeeded: boolean): Promise<TreeEntry | undefined> {
    if (directory === undefined) return undefined;
    if (isNeeded) takeRoom(orGone(() => statAt(directory, name)));
    const found = await findEntry(directory, name, signal).catch(orNothing);
    if (!found) return undefined;
    const isHeld = typeof found.content.bytes !== 'function';
    if (isNeeded || isHeld) await batches.add(found.content);
    return found.entry;
  }

  return {
    push,

    async compare(spot: Spot, name: Buffer, path: TreePath, below: BigIntStats | undefined): Promise<void> {
      const before = await find(spot.lower, name, false);
      const after = await find(spot.merged, name, true);
      if (isSame(before, after)) return;
      if (isYounger(below, beganNs)) moved.push(path);
      push({ path, ...(before && { before }), ...(after && { after }) });
    },

    async finish(): Promise<LayerChanges> {
      await batches.flush();
      return { changes: changes.sort((one, other) => (one.path < other.path ? -1 : 1)), moved };
    },
  };
}

function createTurns(signal: AbortSignal | undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return;
    signal?.throwIfAborted();
    await breathe();
    since = performance.now();
  };
}

function namesOf({ lower, merged, upper, isOriginal }: Spot): Buffer[] {
  if (isOriginal && upper !== undefined) return [...namesNow(upper)];
  const names = new Map<string, Buffer>();
  for (const side of [lower, merged]) {
    if (side === undefined) continue;
    for (const name of namesNow(side)) names.set(name.toString('latin1'), name);
  }
  return [...names.values()];
}

function stat(directory: number | undefined, name: Buffer): BigIntStats | undefined {
  return directory === undefined ? undefined : orGone(() => statAt(directory, name));
}

function open(directory: number | undefined, name: Buffer): number | undefined {
  return directory === undefined ? undefined : orGone(() => openDirectory(directory, name));
}

/** The workspace goes on meanwhile: what is taken away or swapped under our eyes is not there. */
function orGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (thrown) {
    return orNothing(thrown);
  }
}

function orNothing(thrown: unknown): undefined {
  const { code = '' } = thrown as NodeJS.ErrnoException;
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ESTALE'].includes(code)) throw thrown;
}
