import { mustFindAccount } from '../access/must-be-active-account.ts';
import { changedMeanwhile, notFound } from '../access/registry-errors.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { AccountRow, ResourceRow } from '../ports/account-tables.ts';
import { readEveryPage } from '../ports/read-every-page.ts';
import type { Tables } from '../ports/records.ts';
import type { Accounts } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { noteOrphanedFiles } from '../resources/note-orphaned-files.ts';

/**
 * Removes an account in steps that can be repeated: disables it, removes the files while the records still say where
 * they are, and removes all records with the account in one transaction. The audit trail stays: it is append-only.
 */
export function createAccountRemoval({ records, now, directory }: RegistryContext): Accounts['remove'] {
  return async (label, accountId, removeFiles) => {
    const tell = (tables: Tables, action: string, details: Record<string, unknown>) =>
      appendAudit(tables, { accountId, at: now(), actor: label, action, target: accountId, details });

    await records.change(async (tables) => {
      const account = await mustFindAccount(tables, accountId);
      if (account.status === 'disabled') return;
      if (!(await tables.accounts.update(disabled(account, now())))) throw changedMeanwhile('Account');
      await tell(tables, 'account.disabled', {});
    });

    const files = await removeFiles(
      (await records.read((tables) => findWorkspaces(tables, accountId))).map(({ id }) => id),
    );

    return records.change(async (tables) => {
      for (const row of await findWorkspaces(tables, accountId)) await noteOrphanedFiles(tables, row, directory);
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

function findWorkspaces(tables: Tables, accountId: string): Promise<ResourceRow[]> {
  return readEveryPage((page) => tables.workspaces.list(accountId, page));
}
