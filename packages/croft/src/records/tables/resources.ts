import type { ResourceRow, ResourceTable } from '../../core/accounts/ports/account-tables.ts';
import { type Columns, defineTable, key, optional, type Table, text, wholeNumber } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { readAll, readListing } from '../sql/pages.ts';
import { alreadyExists, countRows, findRow, insertWithPlace, removeRows, updateVersion } from '../sql/rows.ts';

type SharedFields = Omit<ResourceRow, 'directory'>;

const columns: Columns<SharedFields> = {
  accountId: key('account_id'),
  id: key('id'),
  name: key('name'),
  description: optional('description'),
  config: text('config'),
  createdAt: text('created_at'),
  updatedAt: text('updated_at'),
  version: wholeNumber('version'),
};

export const agents = defineTable<SharedFields>('agents', columns);
export const sandboxes = defineTable<SharedFields>('sandboxes', columns);
export const workspaces = defineTable<ResourceRow>('workspaces', { ...columns, directory: optional('directory_id') });

export function createResourceTable(connection: SqlConnection, table: Table<SharedFields>): ResourceTable {
  const byName = (accountId: string, name: string) =>
    findRow(connection, table, 'account_id = ? AND name = ?', accountId, name);

  return {
    byName,
    async insert(row) {
      if (await insertWithPlace(connection, table, row)) return;
      const holder = await byName(row.accountId, row.name);
      throw alreadyExists(`the name or the id of ${JSON.stringify(row.name)}`, holder?.id ?? row.id);
    },
    get: (accountId, id) => findRow(connection, table, 'account_id = ? AND id = ?', accountId, id),
    list: (accountId, page) => readListing(connection, { table, where: ['account_id = ?'], values: [accountId], page }),
    count: (accountId) => countRows(connection, table, accountId),
    async update(row) {
      const holder = await byName(row.accountId, row.name);
      if (holder && holder.id !== row.id) throw alreadyExists(`the name ${JSON.stringify(row.name)}`, holder.id);
      return updateVersion(connection, table, row, 'accountId', 'id');
    },
    async remove(accountId, id) {
      return (await removeRows(connection, table, 'account_id = ? AND id = ?', accountId, id)) === 1;
    },
    all: (page) => readAll(connection, table, 'id', page),
  };
}
