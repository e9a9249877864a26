import type { ResourceRow } from '../ports/account-tables.ts';
import type { Tables } from '../ports/records.ts';
import type { ResourceView } from '../ports/registry.ts';
import type { Vault } from '../ports/vault.ts';

export type ResourceTableName = 'agents' | 'sandboxes' | 'workspaces';

/** The rows of a table with their configs sealed. A sealed config opens only in its own row. */
export interface SealedRows<Config> {
  seal(view: ResourceView<Config>): ResourceRow;
  open(row: ResourceRow): ResourceView<Config>;
  find(tables: Tables, accountId: string, id: string): Promise<ResourceView<Config> | undefined>;
}

export function createSealedRows<Config>(vault: Vault, table: ResourceTableName): SealedRows<Config> {
  const about = ({ accountId, id }: { accountId: string; id: string }) => `${table}/${accountId}/${id}`;
  const open = (row: ResourceRow): ResourceView<Config> => ({
    ...row,
    // The config was parsed before it was sealed.
    config: JSON.parse(vault.open(row.config, about(row))) as Config,
  });

  return {
    open,
    seal: (view) => ({ ...view, config: vault.seal(JSON.stringify(view.config), about(view)) }),
    async find(tables, accountId, id) {
      const row = await tables[table].get(accountId, id);
      return row && open(row);
    },
  };
}
