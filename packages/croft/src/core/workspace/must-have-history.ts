import { AppError } from '@croft/protocol';
import type { Forks } from '../history/ports/forks.ts';
import type { History } from '../history/ports/history.ts';
import type { PendingTransaction, Transactions } from '../history/ports/transactions.ts';
import type { Workspace } from './workspace.ts';

const doWithout = 'Keep a copy of what you change, or work in another workspace.';

/** Throws `E_INVALID_INPUT` if the workspace has no history. */
export function mustHaveHistory({ name, history }: Pick<Workspace, 'name' | 'history'>): History {
  if (history) return history;
  const reason = `the workspace ${name} has no history here, so there are no snapshots and no undo`;
  throw new AppError('E_INVALID_INPUT', reason, { details: { workspace: name }, hint: doWithout });
}

/** Throws `E_INVALID_INPUT` if the workspace has no transactions. */
export function mustHaveTransactions({ name, transactions }: Pick<Workspace, 'name' | 'transactions'>): Transactions {
  if (transactions) return transactions;
  const reason = `the workspace ${name} has no history here, so there are no transactions`;
  throw new AppError('E_INVALID_INPUT', reason, { details: { workspace: name }, hint: doWithout });
}

/** Finds a transaction, to show it to the person whose approval is asked. Throws `E_NOT_FOUND`. */
export async function findTransaction(
  workspace: Pick<Workspace, 'name' | 'transactions'>,
  session: string,
  id: string,
): Promise<PendingTransaction> {
  const mine = await mustHaveTransactions(workspace).list(session);
  const found = mine.find((transaction) => transaction.id === id);
  if (found) return found;
  const names = mine.map((transaction) => transaction.id).join(', ');
  throw new AppError('E_NOT_FOUND', `there is no transaction ${id.slice(0, 100)}; open here: ${names || 'none'}`);
}

/** Throws `E_INVALID_INPUT` if the workspace cannot be forked. */
export function mustHaveForks({ name, forks }: Pick<Workspace, 'name' | 'forks'>): Forks {
  if (forks) return forks;
  throw new AppError('E_INVALID_INPUT', `the workspace ${name} cannot be forked here`, {
    details: { workspace: name },
    hint: doWithout,
  });
}
