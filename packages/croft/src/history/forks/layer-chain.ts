import { closeSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TreePath } from '../../core/history/ports/tree.ts';
import { openRoot } from '../../disk/paths/handles.ts';
import { fsyncTree } from '../files/fsync-tree.ts';
import { seedUpper } from '../overlay/seed-upper.ts';
import type { ForkBase, ForkBases } from './fork-bases.ts';

/** The layers that a fork starts from. None of them changes again. */
export interface BaseState {
  readonly base: ForkBase;
  /** Layers above the base, newest first. */
  readonly steps: readonly string[];
  /** Paths that the layers do not show as they are: removals can be recorded only through a mount. */
  readonly paths: readonly TreePath[];
  /** Resolves when the layers survive a power cut. */
  onDisk(): Promise<void>;
}

/** A base, and layers with what changed since. Each layer is made for the first fork that needs it. */
export interface LayerChain {
  readonly base: ForkBase;
  /** The id under which touched paths are asked for (`WorkingTree.touchedSince`). */
  readonly subscriber: string;
  steps: readonly string[];
  /** Paths touched since the base was made. */
  readonly touched: Set<TreePath>;
  /** The touched paths that no layer has as they are. */
  pending: Set<TreePath>;
  /** Layers that survive a power cut. */
  readonly synced: Set<string>;
}

export function newLayerChain(base: ForkBase, subscriber: string, paths: readonly TreePath[] = []): LayerChain {
  return { base, subscriber, steps: [], touched: new Set(paths), pending: new Set(paths), synced: new Set() };
}

export function stateOf({ base, steps, pending, synced }: LayerChain): BaseState {
  const layers = layersOf({ base, steps });
  return { base, steps, paths: [...pending], onDisk: () => syncLayers(layers, synced) };
}

async function syncLayers(layers: readonly string[], synced: Set<string>): Promise<void> {
  const left = layers.filter((layer) => !synced.has(layer));
  await Promise.all(left.map((layer) => fsyncTree(dirname(layer))));
  for (const layer of left) synced.add(layer);
}

/** Returns all layers, newest first. */
export function layersOf({ base, steps }: Pick<LayerChain, 'base' | 'steps'>): string[] {
  return [...steps, base.path];
}

/** Whether all layers exist: another server may have deleted layers that it did not know to be in use. */
export function isOnDisk(chain: LayerChain): boolean {
  return layersOf(chain).every((path) => existsSync(path));
}

/** Makes a layer of the pending paths. On failure the chain stays as it was, and the next fork tries again. */
export async function advance(
  chain: LayerChain,
  {
    bases,
    ...from
  }: { readonly bases: ForkBases; readonly workspaceFd: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  if (chain.pending.size === 0) return;
  using opened = new DisposableStack();
  const below = layersOf(chain).map((path) => opened.adopt(openRoot(path), closeSync));
  let left: readonly TreePath[] = [];
  const step = await bases.makeStep(async (upper) => {
    left = await seedUpper({ upper, below, ...from }, [...chain.pending]);
  });
  chain.pending = new Set(left);
  if (step !== undefined) chain.steps = [step, ...chain.steps];
}
