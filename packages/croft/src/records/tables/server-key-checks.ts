import type { KeyCheckRow, KeyCheckTable } from '../../core/accounts/ports/account-tables.ts';
import { type Column, defineTable, key, text } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';

/** Migration 5. Never edit a released migration; add another one. */
export function serverKeyCheckTables(textType: string): string[] {
  return [
    `CREATE TABLE key_checks (
      key_id ${textType} NOT NULL PRIMARY KEY, check_value ${textType} NOT NULL, is_used INTEGER NOT NULL)`,
  ];
}

const flag = (name: string): Column<boolean> => ({ name, write: Number, read: (stored) => Number(stored) === 1 });

const table = defineTable<KeyCheckRow>('key_checks', {
  id: key('key_id'),
  check: text('check_value'),
  isUsed: flag('is_used'),
});

export function createServerKeyCheckTable(connection: SqlConnection): KeyCheckTable {
  return {
    async all() {
      const { rows } = await connection.query(`SELECT ${table.list} FROM key_checks ORDER BY key_id`);
      return rows.map((stored) => table.toRow(stored));
    },
    async put(row) {
      const sql = `INSERT INTO key_checks (${table.list}) VALUES (${table.marks})
        ON CONFLICT (key_id) DO UPDATE SET is_used = excluded.is_used`;
      await connection.query(sql, table.toValues(row));
    },
  };
}
