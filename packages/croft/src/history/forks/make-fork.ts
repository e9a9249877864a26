import { fstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { copyPaths } from '../files/copy-paths.ts';
import { copyTraits, copyTree } from '../files/copy-tree.ts';
import { fsyncTree } from '../files/fsync-tree.ts';
import type { BaseState } from './followed-base.ts';
import { type ForkRecord, prepareRecord } from './fork-records.ts';
import { pinLayers } from './layer-pins.ts';
import { mountFork } from './mount-fork.ts';

export interface NewFork {
  readonly id: string;
  /** The path at which the fork is visible. Without it, a directory beside its record. */
  readonly target?: string | undefined;
  /** Descriptor of the workspace that the fork starts as. */
  readonly workspaceFd: number;
  /** Returns the layers to start from. Called only where the host has overlays. */
  base(): Promise<BaseState>;
  readonly about: ForkRecord['about'];
  /** Waits for work that runs meanwhile and has to be done before the fork exists. */
  readonly meanwhile?: (() => Promise<unknown>) | undefined;
  /** Does the last changes before anybody sees the fork. */
  finish(path: string): Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

type TargetedFork = NewFork & { readonly target: string };

/** Makes a fork in an existing directory. The last step writes the record that makes it a fork. */
export async function makeFork(forkDirectory: string, fork: TargetedFork, isOverlay: boolean): Promise<ForkRecord> {
  const state = isOverlay ? await fork.base() : undefined;
  // Keeps the layers from being deleted until the record names them.
  using _pinned = pinLayers(state ? [state.base.path, ...state.steps] : []);
  const record = toRecord(fork, state);
  const prepared = prepareRecord(forkDirectory, record);
  await allDone([fill(forkDirectory, fork, record, state), prepared, fork.meanwhile?.(), state?.onDisk()]);
  await fork.finish(record.target);
  await (await prepared)();
  return record;
}

/** Without a state, the host has no overlays and the fork is a copy. */
function toRecord({ id, about, target }: TargetedFork, state: BaseState | undefined): ForkRecord {
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const seen = realpathSync(target);
  if (!state) return { id, kind: 'copy', base: '', steps: [], target: seen, about };
  return { id, kind: 'overlay', base: state.base.path, steps: [...state.steps], target: seen, about };
}

async function fill(
  forkDirectory: string,
  { workspaceFd, signal }: NewFork,
  record: ForkRecord,
  state?: BaseState,
): Promise<void> {
  const { target } = record;
  if (!state) {
    await copyTree(workspaceFd, target, { signal });
    return fsyncTree(target);
  }
  await mountFork(forkDirectory, record);
  await copyPaths(target, workspaceFd, state.paths);
  copyTraits(target, fstatSync(workspaceFd));
  if (state.paths.length > 0) await fsyncTree(join(forkDirectory, 'upper'));
}

/** Waits for all works, also if one fails: none may continue in a directory that is then deleted. */
async function allDone(works: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}
