import { AppError } from '@croft/protocol';
import { createKeyedLock } from '../../lib/keyed-lock.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import { changesToRoots } from './change-roots.ts';
import type { TreeReport } from './history.ts';
import type { ChangedLayer, LayerChanges } from './layers.ts';
import type { Named } from './notes.ts';
import { toFileDiffs } from './text-diff.ts';
import { createTransactionLog, type TransactionNote } from './transaction-log.ts';
import type { Transaction, Transactions } from './transactions.ts';
import { toReport } from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

export interface TransactionsOptions {
  /** Of the workspace itself. */
  readonly tree: WorkingTree;
  /** Over the workspace as it is. */
  openLayer(signal: AbortSignal): Promise<ChangedLayer>;
  /** Such as the workspace's commands run in, but in another directory. */
  openSandbox(directory: number): Promise<Sandbox>;
  now(): Date;
}

const lifeMs = 3_600_000;
const maxOpen = 20;
const maxPaths = 50_000;
const maxBytes = 1024 ** 3;

/** Changes are kept in the store as two trees, so a transaction outlives its layer at once and its server too. */
export function createTransactions(options: TransactionsOptions): Transactions {
  const { tree, now } = options;
  const log = createTransactionLog(tree.store, now);
  const lock = createKeyedLock();
  const places = createPlaces(async () => (await log.list()).length);

  async function remember(session: string, title: string, found: LayerChanges): Promise<Transaction> {
    const at = now();
    const times = { createdAt: at.toISOString(), expiresAt: new Date(at.getTime() + lifeMs).toISOString() };
    const roots = await changesToRoots(tree, found.changes);
    return show(await log.add({ session, title, ...times, ...roots, moved: [...found.moved] }));
  }

  async function show({ name, note }: Named<TransactionNote>): Promise<Transaction> {
    const changes = await tree.diff(note.before, note.after);
    const { createdAt, expiresAt, title } = note;
    const bytes = changes.reduce((total, { after }) => total + (after?.size ?? 0), 0);
    return { id: name, createdAt, expiresAt, title, bytes, changes: await toFileDiffs(changes, tree.store) };
  }

  async function apply({ before, after, moved }: TransactionNote, signal: AbortSignal): Promise<TreeReport> {
    if (moved.length > 0) throw movedOn(moved);
    const changes = await tree.diff(before, after);
    const { refused } = await tree.apply(changes, { signal });
    const untouched = new Set(refused);
    return toReport({ changes: changes.filter(({ path }) => !untouched.has(path)), refused }, 'undo');
  }

  return {
    async begin(session, title, work, signal) {
      using _place = await places.take();
      // The workspace below goes on. The kernel promises nothing about what an overlay shows of what changes under it,
      // but that it never breaks; what a command saw there is judged at the commit, by content.
      await using layer = await options.openLayer(signal);
      const sandbox = await options.openSandbox(layer.directory);
      const result = await work(sandbox).finally(() => sandbox.close());
      signal.throwIfAborted();
      const found = await layer.findChanges({ maxPaths, maxBytes, signal });
      return { result, transaction: await remember(session, title, found) };
    },

    commit: (session, id, signal) =>
      // Of two that commit the same one, the second finds that it is gone.
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

/** Those under way count like those that are open. */
function createPlaces(countOpen: () => Promise<number>) {
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

function movedOn(paths: readonly string[]): AppError {
  const shown = paths.slice(0, 20).join(', ');
  return new AppError('E_CONFLICT', `changed in the workspace while the transaction ran: ${shown}`, {
    details: { paths },
  });
}
