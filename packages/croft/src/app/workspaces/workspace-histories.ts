import { createHistory, type ManagedHistory } from '../../core/history/create-history.ts';
import { createLazyHistory } from '../../core/history/lazy-history.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { guardTree } from '../../core/quota/guard-tree.ts';
import type { QuotaGuard } from '../../core/quota/quota-guard.ts';
import { createLocalTrees, isOutside } from '../../history/local-trees.ts';
import type { HistoryLimits, HistoryShare } from '../../history/store/history-quota.ts';
import { once } from '../../lib/concurrency/once.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';

export { defaultHistoryLimits, type HistoryLimits, type HistoryShare } from '../../history/store/history-quota.ts';

interface WorkspaceHistoriesOptions {
  /** The data directory, which stores the histories. */
  readonly data: string;
  /** Names of control files that the operator lets agents change on this machine. Default: none. */
  readonly allowControl?: readonly string[] | undefined;
  /** Limits of each history. Default: `defaultHistoryLimits`. */
  readonly limits?: HistoryLimits | undefined;
  onWarning(message: string): void;
}

interface OpenedHistory {
  /** The tree without the quota guard. The guard itself uses it to count bytes and to revert changes. */
  readonly raw: WorkingTree;
  readonly tree: WorkingTree;
  readonly history: ManagedHistory;
}

interface HistoryBounds {
  readonly guard?: QuotaGuard | undefined;
  /** The account's share of history storage. Without it, only `limits` apply. */
  readonly share?: HistoryShare | undefined;
}

export type WorkspaceHistories = ReturnType<typeof createWorkspaceHistories>;

/** Histories of the workspaces on this machine, by open directory. */
export function createWorkspaceHistories({ data, allowControl, limits, onWarning }: WorkspaceHistoriesOptions) {
  const trees = createLocalTrees(limits);
  const historyDirectoryOf = (directory: string) => `${data}/history/${sha256(Buffer.from(directory)).slice(0, 32)}`;
  const closing = new Map<number, () => Promise<void>>();

  const opened = new Map<number, () => Promise<OpenedHistory>>();
  const bounds = new Map<number, HistoryBounds>();

  /** Opens one history per directory, whoever asks first. */
  function openOnce(handle: number): Promise<OpenedHistory> {
    const known = opened.get(handle) ?? once(() => open(handle, realpathOf(handle)));
    opened.set(handle, known);
    return known();
  }

  async function open(handle: number, directory: string): Promise<OpenedHistory> {
    const { share } = bounds.get(handle) ?? {};
    const historyDirectory = historyDirectoryOf(directory);
    const raw = await trees.open({ directoryFd: handle, directory, allowControl, historyDirectory, share });
    const tree = guardTree(raw, () => bounds.get(handle)?.guard);
    const history = createHistory({ tree, now: () => new Date(), onWarning });
    closing.set(handle, async () => {
      await history.idle();
      await tree[Symbol.asyncDispose]();
      await tree.store[Symbol.asyncDispose]();
    });
    return { raw, tree, history };
  }

  return {
    /** Callers pass it to the files of the same workspaces. */
    allowControl,
    /**
     * Returns a history that opens on first use. Returns nothing if the data directory is inside the workspace, because
     * the history would record itself.
     */
    of(handle: number): History | undefined {
      const directory = realpathOf(handle);
      if (!isOutside(data, directory)) return undefined;
      return createLazyHistory(async () => (await openOnce(handle)).history, onWarning);
    },
    /** The working tree of a history, guarded by the quota. */
    treeOf: async (handle: number): Promise<WorkingTree> => (await openOnce(handle)).tree,
    /** The same tree without the quota guard, for the guard itself. */
    rawTreeOf: async (handle: number): Promise<WorkingTree> => (await openOnce(handle)).raw,
    /** Drops old history that exceeds its limits. Never throws: the next measurement counts what is left. */
    async shrink(handle: number): Promise<void> {
      const known = await openOnce(handle).catch(() => undefined);
      await known?.history.shrink();
    },
    /** Call it before the history is opened: restored files count against these bounds. */
    setBounds: (handle: number, to: HistoryBounds) => void bounds.set(handle, to),
    /** The directory that stores the history of an open workspace. */
    directoryOf: (handle: number): string => historyDirectoryOf(realpathOf(handle)),
    /** The same for a workspace that may be closed, by its real path. */
    directoryFor: historyDirectoryOf,
    /** For workspaces whose history has another directory. */
    openStore: trees.openStore,
    openTree: (options: Parameters<typeof trees.openTree>[0]) => trees.openTree({ ...options, allowControl }),
    /** Reports changes below an open directory. Resolves when every later change will be reported. */
    watch: trees.watch,
    /** Closes the history. Call it before the directory's handle is closed. */
    async forget(handle: number): Promise<void> {
      const close = closing.get(handle);
      closing.delete(handle);
      opened.delete(handle);
      bounds.delete(handle);
      await close?.();
    },
    close: () => closeAll(closing),
  };
}

async function closeAll(closing: Map<number, () => Promise<void>>): Promise<void> {
  const all = [...closing.values()];
  closing.clear();
  await Promise.all(all.map((close) => close()));
}
