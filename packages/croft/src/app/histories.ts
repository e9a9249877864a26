import { createHistory, type KeptHistory } from '../core/history/create-history.ts';
import type { History } from '../core/history/history.ts';
import { openLazily } from '../core/history/lazy-history.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import { createLocalTrees, isApart } from '../history/local-trees.ts';
import { once } from '../lib/once.ts';
import { sha256 } from '../lib/sha256.ts';
import { realpathOf } from '../lib/workspace-owner.ts';

export interface HistoriesOptions {
  /** Where histories are kept. */
  readonly data: string;
  onWarning(message: string): void;
}

interface OpenedHistory {
  readonly tree: WorkingTree;
  readonly history: KeptHistory;
}

export type Histories = ReturnType<typeof createHistories>;

/** What the workspaces of this machine were, each by its directory. */
export function createHistories({ data, onWarning }: HistoriesOptions) {
  const trees = createLocalTrees();
  const placeOf = (directory: string) => `${data}/history/${sha256(Buffer.from(directory)).slice(0, 32)}`;
  const closing = new Map<number, () => Promise<void>>();

  const opened = new Map<number, () => Promise<OpenedHistory>>();

  /** One for each directory, whoever asks first. */
  function openOnce(handle: number): Promise<OpenedHistory> {
    const known = opened.get(handle) ?? once(() => open(handle, realpathOf(handle)));
    opened.set(handle, known);
    return known();
  }

  async function open(handle: number, directory: string): Promise<OpenedHistory> {
    const tree = await trees.open({ handle, directory, kept: placeOf(directory) });
    const history = createHistory({ tree, now: () => new Date(), onWarning });
    closing.set(handle, async () => {
      await history.idle();
      await tree[Symbol.asyncDispose]();
      await tree.store[Symbol.asyncDispose]();
    });
    return { tree, history };
  }

  return {
    /** Opened on first use. Nothing where the data directory is a part of the workspace: it would remember itself. */
    of(handle: number): History | undefined {
      const directory = realpathOf(handle);
      if (!isApart(data, directory)) return undefined;
      return openLazily(async () => (await openOnce(handle)).history, onWarning);
    },
    /** The files behind it. */
    treeOf: async (handle: number): Promise<WorkingTree> => (await openOnce(handle)).tree,
    /** Where it is kept. */
    placeOf: (handle: number): string => placeOf(realpathOf(handle)),
    /** For workspaces that are kept elsewhere. */
    openStore: trees.openStore,
    openTree: trees.openTree,
    /** Tells what changes below an open directory. Resolves when everything from then on is told. */
    watch: trees.watch,
    /** Before its handle is closed. */
    async forget(handle: number): Promise<void> {
      const close = closing.get(handle);
      closing.delete(handle);
      opened.delete(handle);
      await close?.();
    },
    async close(): Promise<void> {
      const all = [...closing.values()];
      closing.clear();
      await Promise.all(all.map((close) => close()));
    },
  };
}
