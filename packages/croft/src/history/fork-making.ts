import { fstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { bringUp } from './bring-up.ts';
import { copyTree, keepTraits } from './copy-tree.ts';
import type { BaseState } from './followed-base.ts';
import { mountFork } from './fork-mount.ts';
import { type ForkRecord, prepareRecord } from './fork-records.ts';
import { holdLayers } from './layer-holds.ts';
import { syncTree } from './sync-tree.ts';

export interface NewFork {
  readonly id: string;
  /** Where it is to be seen. Left out: in a place of its own. */
  readonly target?: string | undefined;
  /** An open handle of what it starts as. */
  readonly live: number;
  /** Only asked where there are overlays: there a base makes it cheap. */
  base(): Promise<BaseState>;
  readonly about: ForkRecord['about'];
  /** What is under way and has to be done by then. */
  readonly meanwhile?: (() => Promise<unknown>) | undefined;
  /** Does what is left to do before anybody sees it. */
  finish(path: string): Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

type TargetedFork = NewFork & { readonly target: string };

/** In a place that is there. Only the last step of it makes it a fork. */
export async function makeFork(place: string, fork: TargetedFork, isOverlay: boolean): Promise<ForkRecord> {
  const state = isOverlay ? await fork.base() : undefined;
  // Until a record says what it is made of.
  using _held = holdLayers(state ? [state.base.path, ...state.steps] : []);
  const record = toRecord(fork, state);
  const prepared = prepareRecord(place, record);
  await allDone([fill(place, fork, record, state), prepared, fork.meanwhile?.(), state?.onDisk()]);
  await fork.finish(record.target);
  await (await prepared)();
  return record;
}

/** Without a state there are no overlays. */
function toRecord({ id, about, target }: TargetedFork, state: BaseState | undefined): ForkRecord {
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const seen = realpathSync(target);
  if (!state) return { id, kind: 'copy', base: '', steps: [], target: seen, about };
  return { id, kind: 'overlay', base: state.base.path, steps: [...state.steps], target: seen, about };
}

async function fill(place: string, { live, signal }: NewFork, record: ForkRecord, state?: BaseState): Promise<void> {
  const { target } = record;
  if (!state) {
    await copyTree(live, target, { signal });
    return syncTree(target);
  }
  await mountFork(place, record);
  await bringUp(target, live, state.paths);
  keepTraits(target, fstatSync(live));
  if (state.paths.length > 0) await syncTree(join(place, 'upper'));
}

/** So that nothing goes on in what is taken away because one of them failed. */
async function allDone(works: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}
