import { AppError } from '@croft/protocol';
import { isId } from '../../../lib/ids.ts';
import type { AccountRow } from '../ports/account-tables.ts';
import type { Tables } from '../ports/records.ts';
import { notFound } from './registry-errors.ts';

export async function mustFindAccount(tables: Tables, accountId: string): Promise<AccountRow> {
  const account = isId('acct', accountId) ? await tables.accounts.get(accountId) : undefined;
  if (account) return account;
  throw notFound('Account');
}

/**
 * Throws for a disabled account: a record that is added after the removal of the others would stay for ever. Runs in the
 * transaction that adds something.
 */
export async function mustBeActiveAccount(tables: Tables, accountId: string): Promise<AccountRow> {
  const account = await mustFindAccount(tables, accountId);
  if (account.status === 'active') return account;
  throw new AppError('E_FORBIDDEN', 'Account is disabled: nothing can be added to it', { details: { accountId } });
}
