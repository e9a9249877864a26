import type { Sandbox } from '../../core/commands/sandbox.ts';
import type { Transactions } from '../../core/history/ports/transactions.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { createTransactions } from '../../core/history/transactions/create-transactions.ts';
import { once } from '../../lib/concurrency/once.ts';
import type { Overlays } from './overlays.ts';

export interface TransactionWorkspace {
  tree(): Promise<WorkingTree>;
  /** An open file descriptor of the workspace's directory. */
  directoryFd(): Promise<number>;
  /** Opens a sandbox like those of the workspace, over another directory. */
  openSandbox(directoryFd: number): Promise<Sandbox>;
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
