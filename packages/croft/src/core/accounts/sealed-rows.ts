import type { ResourceRow, Tables } from './records.ts';
import type { ResourceView } from './registry.ts';
import type { Vault } from './vault.ts';

export type ResourceTableName = 'agents' | 'sandboxes' | 'workspaces';

/** The rows of a table with their configs, which are sealed for the place they are in. */
export interface SealedRows<Config> {
  seal(view: ResourceView<Config>): ResourceRow;
  open(row: ResourceRow): ResourceView<Config>;
  find(tables: Tables, accountId: string, id: string): Promise<ResourceView<Config> | undefined>;
}

export function createSealedRows<Config>(vault: Vault, table: ResourceTableName): SealedRows<Config> {
  const about = ({ accountId, id }: { accountId: string; id: string }) => `${table}/${accountId}/${id}`;
  const open = (row: ResourceRow): ResourceView<Config> => ({
    ...row,
    // What was sealed here was parsed before.
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
