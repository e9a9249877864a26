import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { HistoryStore } from '../core/history/store.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import { sharedFollower } from '../init/shared-follower.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { createDirectoryWatcher } from './watch-directory.ts';
import { openWorkingTree, type WorkingTreeOptions } from './working-tree.ts';

export interface LocalTree {
  /** An open handle of the workspace. */
  readonly handle: number;
  readonly directory: string;
  /** The directory that its history is kept in. */
  readonly kept: string;
}

/** Working trees of directories of this machine, each with a store beside its others. One process follows all of them. */
export function createLocalTrees() {
  const openTree = (options: Omit<WorkingTreeOptions, 'follower'>) =>
    openWorkingTree({ ...options, follower: sharedFollower });
  return {
    openStore,
    openTree,
    watch: createDirectoryWatcher(sharedFollower),
    async open({ handle, directory, kept }: LocalTree): Promise<WorkingTree> {
      const store = await openStore(kept);
      try {
        return await openTree({ handle, directory, store, state: join(kept, 'tree') });
      } catch (thrown) {
        await store[Symbol.asyncDispose]();
        throw thrown;
      }
    },
  };
}

async function openStore(kept: string): Promise<HistoryStore> {
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  return openSqliteStore(join(kept, 'history.db'));
}

/** Whether what is kept there is no part of this directory, which would remember itself. */
export function isApart(kept: string, directory: string): boolean {
  return !`${toReal(resolve(kept))}/`.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** It may not be there yet. */
function toReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(toReal(parent), path.slice(parent.length));
  }
}
