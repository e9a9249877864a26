import type { TreePath } from '../core/history/tree.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { type Base, type Bases, compareWithBase } from './fork-bases.ts';

export interface FollowedBaseOptions {
  readonly bases: Bases;
  /** An open handle of the workspace. */
  readonly live: number;
  readonly tree: Pick<WorkingTree, 'touchedSince'>;
  /** With more than so many differences, the next fork starts from a new base. */
  readonly maxPaths?: number | undefined;
}

/** A base, and where the workspace may be another by now. */
export interface BaseState {
  readonly base: Base;
  readonly paths: readonly TreePath[];
}

const defaultPaths = 2000;

export type FollowedBase = ReturnType<typeof createFollowedBase>;

/** The base of one workspace and what was touched since, as the kernel tells: a fork costs that, and not the tree. */
export function createFollowedBase({ bases, live, tree, maxPaths = defaultPaths }: FollowedBaseOptions) {
  const asker = `forks-${crypto.randomUUID()}`;
  const lock = createKeyedLock();
  let base: Base | undefined;
  let touched = new Set<TreePath>();

  async function make(signal?: AbortSignal): Promise<BaseState> {
    // Asked first: what is touched while it is copied is looked at again.
    await tree.touchedSince(asker);
    base = await bases.make(live, signal);
    touched = new Set();
    return follow(base, signal);
  }

  async function follow(known: Base, signal?: AbortSignal): Promise<BaseState> {
    const since = await tree.touchedSince(asker);
    if (since === 'everything') touched = new Set(await compareWithBase(known, live, { maxPaths, signal }));
    else for (const path of since) touched.add(path);
    return { base: known, paths: [...touched] };
  }

  async function find(signal?: AbortSignal): Promise<BaseState> {
    if (!base) {
      base = bases.newest();
      if (!base) return make(signal);
      // Nobody has followed it: from here on it is, and what was before is looked for.
      await tree.touchedSince(asker);
      touched = new Set(await compareWithBase(base, live, { maxPaths, signal }));
    }
    const state = await follow(base, signal);
    return state.paths.length > maxPaths ? make(signal) : state;
  }

  const orNew = (signal?: AbortSignal) =>
    find(signal).catch((thrown) => {
      if (!isTooMany(thrown)) throw thrown;
      return make(signal);
    });

  return {
    /** Makes one if there is none, or if too much is different. */
    find: (signal?: AbortSignal): Promise<BaseState> => lock.run('', () => orNew(signal)),
    name: () => base?.name,
  };
}

function isTooMany(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'E_TOO_LARGE';
}
