import { closeSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TreePath } from '../core/history/tree.ts';
import { openRoot } from '../disk/handles.ts';
import type { Base, Bases } from './fork-bases.ts';
import { seedUpper } from './seed-upper.ts';
import { syncTree } from './sync-tree.ts';

/** What a fork is made of before anybody writes to it. None of it changes again. */
export interface BaseState {
  readonly base: Base;
  /** Layers above it, the newest first. */
  readonly steps: readonly string[];
  /** What these do not show as it is: it takes a mount to say that something is gone. */
  readonly paths: readonly TreePath[];
  /** Until then a power cut may take it away again. */
  onDisk(): Promise<void>;
}

/** A base, and layers of what became different since, each made for the fork that needed it first. */
export interface Chain {
  readonly base: Base;
  /** Who is told what is touched. */
  readonly asker: string;
  steps: readonly string[];
  /** Since the base. */
  readonly touched: Set<TreePath>;
  /** Of these: what no layer has as it is. */
  pending: Set<TreePath>;
  /** Layers that no power cut takes away any more. */
  readonly synced: Set<string>;
}

export function newChain(base: Base, asker: string, paths: readonly TreePath[] = []): Chain {
  return { base, asker, steps: [], touched: new Set(paths), pending: new Set(paths), synced: new Set() };
}

export function stateOf({ base, steps, pending, synced }: Chain): BaseState {
  const layers = layersOf({ base, steps });
  return { base, steps, paths: [...pending], onDisk: () => syncLayers(layers, synced) };
}

async function syncLayers(layers: readonly string[], synced: Set<string>): Promise<void> {
  const left = layers.filter((layer) => !synced.has(layer));
  await Promise.all(left.map((layer) => syncTree(dirname(layer))));
  for (const layer of left) synced.add(layer);
}

/** The newest first. */
export function layersOf({ base, steps }: Pick<Chain, 'base' | 'steps'>): string[] {
  return [...steps, base.path];
}

/** Another server may have taken away what it did not know to be used. */
export function isThere(chain: Chain): boolean {
  return layersOf(chain).every((path) => existsSync(path));
}

/** Makes a layer of what is not in one. Without it everything stays as it was, for the next to try. */
export async function advance(
  chain: Chain,
  { bases, ...from }: { readonly bases: Bases; readonly live: number; readonly signal?: AbortSignal | undefined },
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
