import { AppError } from '@croft/protocol';
import { isId } from '../../lib/ids.ts';
import type { AccountRow, Tables } from './records.ts';
import { notFound } from './refusals.ts';

export async function mustFindAccount(tables: Tables, accountId: string): Promise<AccountRow> {
  const account = isId('acct', accountId) ? await tables.accounts.get(accountId) : undefined;
  if (account) return account;
  throw notFound('Account');
}

/**
 * Nothing is added to an account that is on its way out: what came after its records were removed would stay for
 * ever. In the transaction of what is added.
 */
export async function mustBeActive(tables: Tables, accountId: string): Promise<AccountRow> {
  const account = await mustFindAccount(tables, accountId);
  if (account.status === 'active') return account;
  throw new AppError('E_FORBIDDEN', 'Account is disabled: nothing can be added to it', { details: { accountId } });
}
