import { AppError } from '@croft/protocol';
import { createKeyedLock } from '../../../lib/concurrency/keyed-lock.ts';
import type { Sandbox } from '../../commands/sandbox.ts';
import type { Named } from '../logs/notes.ts';
import { createTransactionLog, type TransactionNote } from '../logs/transaction-log.ts';
import type { TreeReport } from '../ports/history.ts';
import type { DiffableLayer, LayerChanges } from '../ports/layers.ts';
import type { PendingTransaction, Transactions } from '../ports/transactions.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { toTreeReport } from '../trees/carry-out-plan.ts';
import { changesToTrees } from '../trees/changes-to-trees.ts';
import { toFileDiffs } from '../trees/text-diff.ts';
import { restoreInSandbox } from './restore-in-sandbox.ts';

interface TransactionsOptions {
  /** The working tree of the workspace itself. */
  readonly tree: WorkingTree;
  /** Opens a layer over the workspace as it is now. */
  openLayer(signal: AbortSignal): Promise<DiffableLayer>;
  /** Opens a sandbox like that of the workspace, in another directory. */
  openSandbox(directoryFd: number): Promise<Sandbox>;
  now(): Date;
}

const lifeMs = 3_600_000;
const maxOpen = 20;
const maxPaths = 50_000;
const maxBytes = 1024 ** 3;

/** Stores the changes of a transaction as two trees, so that a transaction outlives its layer and its server. */
export function createTransactions(options: TransactionsOptions): Transactions {
  const { tree, now } = options;
  const log = createTransactionLog(tree.store, now);
  const lock = createKeyedLock();
  const slots = createTransactionSlots(async () => (await log.list()).length);

  async function remember(session: string, title: string, found: LayerChanges): Promise<PendingTransaction> {
    const at = now();
    const times = { createdAt: at.toISOString(), expiresAt: new Date(at.getTime() + lifeMs).toISOString() };
    const trees = await changesToTrees(tree, found.changes);
    return show(await log.add({ session, title, ...times, ...trees, moved: [...found.alsoChanged] }));
  }

  async function show({ name, note }: Named<TransactionNote>): Promise<PendingTransaction> {
    const changes = await tree.diff(note.before, note.after);
    const { createdAt, expiresAt, title } = note;
    const bytes = changes.reduce((total, { after }) => total + (after?.size ?? 0), 0);
    return { id: name, createdAt, expiresAt, title, bytes, changes: await toFileDiffs(changes, tree.store) };
  }

  async function apply({ before, after, moved }: TransactionNote, signal: AbortSignal): Promise<TreeReport> {
    if (moved.length > 0) throw transactionConflict(moved);
    const changes = await tree.diff(before, after);
    const { refused } = await tree.apply(changes, { signal });
    const untouched = new Set(refused);
    return toTreeReport({ changes: changes.filter(({ path }) => !untouched.has(path)), refused }, 'undo');
  }

  return {
    async begin(session, title, work, signal, asBefore = []) {
      using _slot = await slots.take();
      // Others may change the workspace below the layer meanwhile. The kernel does not define what an overlay then
      // shows, but the overlay never breaks. The commit compares contents, so it notices whatever the command saw.
      await using layer = await options.openLayer(signal);
      const sandbox = await options.openSandbox(layer.directoryFd);
      const prepared = async () => {
        await restoreInSandbox(sandbox, asBefore, { store: tree.store, signal });
        return work(sandbox);
      };
      const result = await prepared().finally(() => sandbox.close());
      signal.throwIfAborted();
      const found = await layer.findChanges({ maxPaths, maxBytes, signal });
      return { result, transaction: await remember(session, title, found) };
    },

    commit: (session, id, signal) =>
      // If two callers commit the same transaction, the second finds that it is gone.
      lock.run(id, async () => {
        const report = await apply(await log.find(session, id), signal);
        await log.drop([id]);
        return report;
      }),

    discard: (session, id) =>
      lock.run(id, async () => {
        await log.find(session, id);
        await log.drop([id]);
      }),

    list: async (session) => Promise.all((await log.listOf(session)).map(show)),
  };
}

/** Limits transactions. Running ones count like open ones. */
function createTransactionSlots(countOpen: () => Promise<number>) {
  let underWay = 0;
  return {
    async take(): Promise<Disposable> {
      const count = (await countOpen()) + underWay;
      if (count >= maxOpen)
        throw new AppError('E_QUOTA', `${count} transactions are open here: commit or discard some first`);
      underWay += 1;
      return {
        [Symbol.dispose]() {
          underWay -= 1;
        },
      };
    },
  };
}

function transactionConflict(paths: readonly string[]): AppError {
  const shown = paths.slice(0, 20).join(', ');
  return new AppError('E_CONFLICT', `changed in the workspace while the transaction ran: ${shown}`, {
    details: { paths },
  });
}
