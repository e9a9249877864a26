import type {
  DataDirectoryRow,
  DataDirectoryTable,
  OrphanedFilesRow,
} from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key, text } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { insertRow, removeRows } from '../sql/rows.ts';

/** Migration 10. Never edit a released migration; add another one. */
export function dataDirectoryTables(textType: string): string[] {
  return [
    `CREATE TABLE data_directories (
      directory_id ${textType} NOT NULL PRIMARY KEY, host ${textType} NOT NULL, address ${textType} NOT NULL,
      used_at ${textType} NOT NULL)`,
    `CREATE TABLE orphaned_files (
      directory_id ${textType} NOT NULL, account_id ${textType} NOT NULL, workspace_id ${textType} NOT NULL,
      PRIMARY KEY (directory_id, account_id, workspace_id))`,
    `ALTER TABLE workspaces ADD COLUMN directory_id ${textType}`,
  ];
}

const table = defineTable<DataDirectoryRow>('data_directories', {
  id: key('directory_id'),
  host: text('host'),
  address: text('address'),
  usedAt: text('used_at'),
});

const orphanedFiles = defineTable<OrphanedFilesRow>('orphaned_files', {
  directory: key('directory_id'),
  accountId: key('account_id'),
  workspaceId: key('workspace_id'),
});

const maxOrphaned = 100;
const claimSql = 'UPDATE workspaces SET directory_id = ? WHERE account_id = ? AND id = ? AND directory_id IS NULL';

export function createDataDirectoryTable(connection: SqlConnection): DataDirectoryTable {
  return {
    async put(row) {
      const sql = `INSERT INTO data_directories (${table.list}) VALUES (${table.marks})
        ON CONFLICT (directory_id) DO UPDATE SET host = excluded.host, address = excluded.address,
        used_at = excluded.used_at`;
      await connection.query(sql, table.toValues(row));
    },
    async all() {
      const { rows } = await connection.query(`SELECT ${table.list} FROM data_directories ORDER BY directory_id`);
      return rows.map((stored) => table.toRow(stored));
    },
    async claim(accountId, workspaceId, id) {
      return (await connection.query(claimSql, [id, accountId, workspaceId])).count === 1;
    },
    async adopt(from, to) {
      await connection.query('UPDATE orphaned_files SET directory_id = ? WHERE directory_id = ?', [to, from]);
      return (await connection.query('UPDATE workspaces SET directory_id = ? WHERE directory_id = ?', [to, from]))
        .count;
    },
    async addOrphaned(row) {
      await insertRow(connection, orphanedFiles, row);
    },
    async orphaned(id) {
      const sql = `SELECT ${orphanedFiles.list} FROM orphaned_files WHERE directory_id = ? LIMIT ${maxOrphaned}`;
      return (await connection.query(sql, [id])).rows.map((stored) => orphanedFiles.toRow(stored));
    },
    async removeOrphaned({ directory, accountId, workspaceId }) {
      const where = 'directory_id = ? AND account_id = ? AND workspace_id = ?';
      await removeRows(connection, orphanedFiles, where, directory, accountId, workspaceId);
    },
  };
}
