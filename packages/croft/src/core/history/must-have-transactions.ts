import { AppError } from '@croft/protocol';
import type { Workspace } from '../workspace.ts';
import type { Transaction, Transactions } from './transactions.ts';

/** Throws where commands cannot be run on a copy. */
export function mustHaveTransactions({ name, transactions }: Pick<Workspace, 'name' | 'transactions'>): Transactions {
  if (transactions) return transactions;
  const reason = `nothing of what the workspace ${name} was is kept here, so there are no transactions`;
  throw new AppError('E_INVALID_INPUT', reason, { details: { workspace: name } });
}

/** For a person who is asked about it. Throws `E_NOT_FOUND`. */
export async function findTransaction(
  workspace: Pick<Workspace, 'name' | 'transactions'>,
  session: string,
  id: string,
): Promise<Transaction> {
  const mine = await mustHaveTransactions(workspace).list(session);
  const found = mine.find((transaction) => transaction.id === id);
  if (found) return found;
  const names = mine.map((transaction) => transaction.id).join(', ');
  throw new AppError('E_NOT_FOUND', `there is no transaction ${id.slice(0, 100)}; open here: ${names || 'none'}`);
}
