import type { ResourceTable } from '../ports/account-tables.ts';
import type { Paged, PageRequest } from '../ports/pages.ts';
import type { Records, Tables } from '../ports/records.ts';
import type { Vault } from '../ports/vault.ts';

const pageSize = 100;
const kinds = ['agents', 'sandboxes', 'workspaces'] as const;

/**
 * Seals all records again with the newest key, one page per transaction: an interrupted run keeps its progress.
 * Resolves with the number of resealed rows.
 */
export async function resealAllRecords(records: Records, vault: Vault): Promise<number> {
  let count = 0;
  for (const kind of kinds) {
    count += await eachPage(
      records,
      (tables, page) => tables[kind].all(page),
      (tables, row) => resealResource(tables[kind], kind, row, vault),
    );
  }
  count += await eachPage(
    records,
    ({ secrets }, page) => secrets.all(page),
    async ({ secrets }, row) => {
      const about = `secrets/${row.accountId}/${row.name}`;
      if (vault.isCurrent(row.value)) return false;
      await secrets.put({ ...row, value: vault.seal(vault.open(row.value, about), about) });
      return true;
    },
  );
  return (
    count +
    (await eachPage(
      records,
      ({ approvals }, page) => approvals.all(page),
      async ({ approvals }, row) => {
        const about = `approvals/${row.accountId}/${row.approvalId}`;
        if (vault.isCurrent(row.content)) return false;
        const content = vault.seal(vault.open(row.content, about), about);
        return approvals.update({ ...row, content, version: row.version + 1 });
      },
    ))
  );
}

type Row = Awaited<ReturnType<ResourceTable['all']>>['rows'][number];

async function resealResource(table: ResourceTable, kind: string, row: Row, vault: Vault): Promise<boolean> {
  const about = `${kind}/${row.accountId}/${row.id}`;
  if (vault.isCurrent(row.config)) return false;
  const config = vault.seal(vault.open(row.config, about), about);
  return table.update({ ...row, config, version: row.version + 1 });
}

/** Reads and writes each page in one transaction, so that nobody changes a row in between. */
async function eachPage<T>(
  records: Records,
  list: (tables: Tables, page: PageRequest) => Promise<Paged<T>>,
  reseal: (tables: Tables, row: T) => Promise<boolean>,
): Promise<number> {
  let [after, count]: [string | undefined, number] = [undefined, 0];
  do {
    const done: { next: string | undefined; count: number } = await records.change(async (tables) => {
      const { rows, next } = await list(tables, { limit: pageSize, after });
      let changed = 0;
      for (const row of rows) if (await reseal(tables, row)) changed += 1;
      return { next, count: changed };
    });
    count += done.count;
    after = done.next;
  } while (after !== undefined);
  return count;
}
