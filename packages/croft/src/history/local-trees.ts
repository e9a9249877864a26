import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { HistoryStore } from '../core/history/ports/history-store.ts';
import type { WorkingTree } from '../core/history/ports/working-tree.ts';
import { followerOf } from '../init/follower-pool.ts';
import { defaultHistoryLimits, type HistoryLimits, type HistoryShare } from './store/history-quota.ts';
import { openSqliteStore, type SqliteStoreOptions } from './store/sqlite-store.ts';
import { createDirectoryWatcher } from './tree/watch-directory.ts';
import { openWorkingTree, type WorkingTreeOptions } from './working-tree.ts';

/** File in the directory of a history that names its workspace. */
export const workspaceFile = 'workspace';

interface LocalTree {
  /** Descriptor of the workspace. */
  readonly directoryFd: number;
  readonly directory: string;
  /** Names of control files that may be restored as well. Without it, none. */
  readonly allowControl?: readonly string[] | undefined;
  /** The directory of the history. */
  readonly historyDirectory: string;
  /** Without it, no account shares the limit. */
  readonly share?: HistoryShare | undefined;
}

type OpenTreeOptions = Omit<WorkingTreeOptions, 'follower'> & Pick<LocalTree, 'share'>;

/** Opens working trees of directories on this machine, each with its own store. */
export function createLocalTrees(limits: HistoryLimits = defaultHistoryLimits) {
  const openStore = (kept: string, share?: HistoryShare) => openStoreIn(kept, { limits, share });
  const openTree = ({ share, ...options }: OpenTreeOptions) =>
    openWorkingTree({ ...options, follower: followerOf(share?.accountId) });
  return {
    openStore,
    openTree,
    watch: createDirectoryWatcher(followerOf()),
    async open({ directoryFd, directory, allowControl, historyDirectory, share }: LocalTree): Promise<WorkingTree> {
      const store = await openStore(historyDirectory, share);
      noteWorkspace(historyDirectory, directory);
      try {
        const state = join(historyDirectory, 'tree');
        return await openTree({ directoryFd, directory, allowControl, store, state, share });
      } catch (thrown) {
        await store[Symbol.asyncDispose]();
        throw thrown;
      }
    },
  };
}

async function openStoreIn(historyDirectory: string, options: SqliteStoreOptions): Promise<HistoryStore> {
  mkdirSync(historyDirectory, { recursive: true, mode: 0o700 });
  return openSqliteStore(join(historyDirectory, 'history.db'), options);
}

/**
 * Records the workspace directory for `croft du`, because the name of the history directory says nothing to a person.
 * Without the file, `croft du` shows less.
 */
function noteWorkspace(historyDirectory: string, directory: string): void {
  const file = join(historyDirectory, workspaceFile);
  try {
    if (!existsSync(file)) writeFileSync(file, `${directory}\n`, { mode: 0o600 });
  } catch {
    // For example, the disk is full.
  }
}

/** Whether the history directory is outside the workspace. Inside, the history would record itself. */
export function isOutside(historyDirectory: string, directory: string): boolean {
  return !`${toReal(resolve(historyDirectory))}/`.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** Resolves links in a path that may not exist yet. */
function toReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(toReal(parent), path.slice(parent.length));
  }
}
