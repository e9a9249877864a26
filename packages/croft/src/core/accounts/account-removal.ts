import { mustFindAccount } from './account-checks.ts';
import { note } from './audit-log.ts';
import type { RegistryContext } from './context.ts';
import { readEveryPage } from './every-page.ts';
import type { AccountRow, Tables } from './records.ts';
import { notFound, stale } from './refusals.ts';
import type { Accounts } from './registry.ts';

/**
 * In steps, each of which can be taken again: no more is let in, the files go while the records still say where they
 * are, and the records go with the account in one piece. The audit trail stays; it is append-only.
 */
export function createAccountRemoval({ records, now }: RegistryContext): Accounts['remove'] {
  return async (label, accountId, removeFiles) => {
    const tell = (tables: Tables, action: string, details: Record<string, unknown>) =>
      note(tables, { accountId, at: now(), actor: label, action, target: accountId, details });

    await records.change(async (tables) => {
      const account = await mustFindAccount(tables, accountId);
      if (account.status === 'disabled') return;
      if (!(await tables.accounts.update(disabled(account, now())))) throw stale('Account');
      await tell(tables, 'account.disabled', {});
    });

    const files = await removeFiles(await records.read((tables) => findWorkspaceIds(tables, accountId)));

    return records.change(async (tables) => {
      const removed = { ...files, ...(await tables.removeAllOf(accountId)) };
      if (!(await tables.accounts.remove(accountId))) throw notFound('Account');
      await tell(tables, 'account.removed', { removed });
      return removed;
    });
  };
}

function disabled(account: AccountRow, now: Date): AccountRow {
  return { ...account, status: 'disabled', updatedAt: now.toISOString(), version: account.version + 1 };
}

async function findWorkspaceIds(tables: Tables, accountId: string): Promise<string[]> {
  const rows = await readEveryPage((page) => tables.workspaces.list(accountId, page));
  return rows.map(({ id }) => id);
}
