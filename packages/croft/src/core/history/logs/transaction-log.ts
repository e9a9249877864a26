import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { HistoryStore } from '../ports/history-store.ts';
import { type Named, readNotes } from './notes.ts';

export const TransactionNote = z.object({
  session: z.string(),
  title: z.string(),
  createdAt: z.string(),
  expiresAt: z.string(),
  /** Trees that contain only the changed paths. */
  before: z.string(),
  after: z.string(),
  moved: z.array(z.string()),
});
export type TransactionNote = z.output<typeof TransactionNote>;

/** Open transactions by id. Expired ones are deleted when transactions are listed. */
export function createTransactionLog(store: HistoryStore, now: () => Date) {
  async function list(): Promise<Named<TransactionNote>[]> {
    const all = readNotes(TransactionNote, await store.notes('transaction'));
    const isOver = ({ note }: Named<TransactionNote>) => note.expiresAt <= now().toISOString();
    const over = all.filter(isOver).map(({ name }) => name);
    if (over.length > 0) await drop(over);
    return all.filter((one) => !isOver(one));
  }

  const listOf = async (session: string) => (await list()).filter(({ note }) => note.session === session);
  const drop = (ids: readonly string[]) => store.dropNotes('transaction', ids);

  return {
    list,
    listOf,
    drop,

    async add(note: TransactionNote): Promise<Named<TransactionNote>> {
      const name = `tx_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`;
      await store.put([], [{ kind: 'transaction', name, note }]);
      return { name, note };
    },

    /** Throws `E_NOT_FOUND`, also for a transaction of another session. */
    async find(session: string, id: string): Promise<TransactionNote> {
      const mine = await listOf(session);
      const found = mine.find(({ name }) => name === id);
      if (found) return found.note;
      const names = mine.map(({ name }) => name);
      const rest = names.length === 0 ? 'none is open in this session' : `open in this session: ${names.join(', ')}`;
      throw new AppError('E_NOT_FOUND', `there is no transaction ${id.slice(0, 100)}; ${rest}`, {
        details: { transactions: names },
      });
    },
  };
}
