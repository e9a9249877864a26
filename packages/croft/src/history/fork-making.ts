import { fstatSync, mkdirSync, realpathSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { bringUp } from './bring-up.ts';
import { copyTree, keepTraits } from './copy-tree.ts';
import type { BaseState } from './followed-base.ts';
import { mountFork } from './fork-mount.ts';
import { type ForkRecord, prepareRecord } from './fork-records.ts';
import { holdLayers } from './layer-holds.ts';

export interface NewFork {
  readonly id: string;
  /** Where it is to be seen. Left out: in a place of its own. */
  readonly target?: string | undefined;
  /** An open handle of what it starts as. */
  readonly live: number;
  /** Only asked where there are overlays: there a base makes it cheap. */
  base(): Promise<BaseState>;
  readonly about: ForkRecord['about'];
  /** What has to be done by then and can be while others are waited for. */
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
  const [, settle] = await allDone([
    fill(place, fork, record, state),
    prepareRecord(place, record),
    afterNext(() => fork.meanwhile?.()),
  ]);
  await fork.finish(record.target);
  settle();
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
  if (!state) return copyTree(live, target, { signal });
  await mountFork(place, record);
  await bringUp(target, live, state.paths);
  keepTraits(target, fstatSync(live));
}

/** So that nothing goes on in what is taken away because one of them failed. */
async function allDone<T extends readonly unknown[]>(works: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(works);
  return (await Promise.all(works)) as unknown as T;
}

/** When what the others asked for is on its way: this one may keep everybody waiting for the disk. */
async function afterNext<T>(work: () => T): Promise<T> {
  await breathe();
  return work();
}
