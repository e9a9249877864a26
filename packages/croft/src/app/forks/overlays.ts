import type { Sandbox } from '../../core/commands/sandbox.ts';
import type { Transactions } from '../../core/history/ports/transactions.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { createTransactions } from '../../core/history/transactions/create-transactions.ts';
import { createFollowedBases, type FollowedBases } from '../../history/forks/followed-bases.ts';
import { createForkDirectories, type ForkDirectories } from '../../history/forks/fork-directories.ts';
import { createLayers, type LayerFactory } from '../../history/overlay/layers.ts';
import { once } from '../../lib/concurrency/once.ts';
import type { DataDirectoryForks } from '../../storages/index.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';

/** Layers and fork directories that all workspaces of a server share. */
export interface Overlays {
  readonly data: string;
  readonly histories: WorkspaceHistories;
  readonly layers: LayerFactory;
  readonly forkDirectories: ForkDirectories;
  readonly followedBases: FollowedBases;
  /** Resolves when the incomplete layers and forks of earlier servers are removed. */
  readonly swept: Promise<unknown>;
}

export function createOverlays(
  data: string,
  histories: WorkspaceHistories,
  onWarning: (message: string) => void,
): Overlays {
  const layers = createLayers({ parent: `${data}/layers` });
  const forkDirectories = createForkDirectories({ parent: `${data}/forks` });
  const warn = (thrown: unknown) =>
    onWarning(`layers or forks that an earlier server left unfinished cannot be removed: ${thrown}`);
  const swept = Promise.all([layers.sweep().catch(warn), forkDirectories.sweep().catch(warn)]);
  return { data, histories, layers, forkDirectories, followedBases: createFollowedBases(), swept };
}

/** Mounts and removes forks among the workspaces of the data directory, by namespace. */
export function toLocalForks({ forkDirectories }: Pick<Overlays, 'forkDirectories'>): DataDirectoryForks {
  return {
    ensure(namespace) {
      const record = forkDirectories.find(namespace);
      if (record) forkDirectories.ensure(record);
    },
    async remove(namespace) {
      const record = forkDirectories.find(namespace);
      if (record) await forkDirectories.remove(record);
    },
  };
}

export interface TransactionWorkspace {
  tree(): Promise<WorkingTree>;
  /** An open file descriptor of the workspace's directory. */
  directoryFd(): Promise<number>;
  /** Opens a sandbox like those of the workspace, over another directory. */
  openSandbox(directory: number): Promise<Sandbox>;
}

/** Opens transactions and the history they need on first use. */
export function openTransactions({ layers }: Pick<Overlays, 'layers'>, workspace: TransactionWorkspace): Transactions {
  const open = once(async () => {
    const [tree, lower] = [await workspace.tree(), await workspace.directoryFd()];
    return createTransactions({
      tree,
      openSandbox: workspace.openSandbox,
      openLayer: (signal) => layers.open({ lowerFd: lower, store: tree.store, signal }),
      now: () => new Date(),
    });
  });
  return {
    begin: async (...call) => (await open()).begin(...call),
    commit: async (...call) => (await open()).commit(...call),
    discard: async (...call) => (await open()).discard(...call),
    list: async (...call) => (await open()).list(...call),
  };
}
