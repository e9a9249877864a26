import { AppError } from '@croft/protocol';
import type { Table } from './columns.ts';
import type { SqlConnection, Statement, Value } from './database.ts';

/** Inserts a row unless it conflicts with an existing one. Returns whether it was inserted. */
export async function insertRow<Row extends object>(connection: SqlConnection, table: Table<Row>, row: Row) {
  return (await connection.query(...toInsert(table)(row))).count === 1;
}

/** Returns a function that makes the statement of `insertRow`. */
export function toInsert<Row extends object>(table: Table<Row>): (row: Row) => Statement {
  const sql = `INSERT INTO ${table.name} (${table.list}) VALUES (${table.marks}) ON CONFLICT DO NOTHING`;
  return (row) => [sql, table.toValues(row)];
}

/**
 * Inserts a row with the account's next `place` number. Changes run one at a time, so no other change can take that
 * number.
 */
export async function insertWithPlace<Row extends { readonly accountId: string }>(
  connection: SqlConnection,
  table: Table<Row>,
  row: Row,
): Promise<boolean> {
  const placeSql = `(SELECT COALESCE(MAX(place), 0) + 1 FROM ${table.name} WHERE account_id = ?)`;
  const sql = `INSERT INTO ${table.name} (${table.list}, place) VALUES (${table.marks}, ${placeSql}) ON CONFLICT DO NOTHING`;
  return (await connection.query(sql, [...table.toValues(row), row.accountId])).count === 1;
}

/** Replaces the row if it has the previous version. Returns whether it had. */
export async function updateVersion<Row extends { readonly version: number }>(
  connection: SqlConnection,
  table: Table<Row>,
  row: Row,
  ...foundBy: readonly (keyof Row & string)[]
): Promise<boolean> {
  return (await connection.query(...toVersionUpdate(table, ...foundBy)(row))).count === 1;
}

/** Returns a function that makes the statement of `updateVersion`. */
export function toVersionUpdate<Row extends { readonly version: number }>(
  table: Table<Row>,
  ...foundBy: readonly (keyof Row & string)[]
): (row: Row) => Statement {
  const found = foundBy.map((field) => table.columns[field]);
  const where = found.map(({ name }) => `${name} = ?`).join(' AND ');
  const sql = `UPDATE ${table.name} SET ${table.assignments(...foundBy)} WHERE ${where} AND version = ?`;
  const toKeys = (row: Row) => foundBy.map((field) => table.columns[field].write(row[field]));
  return (row) => [sql, [...table.toValues(row, ...foundBy), ...toKeys(row), row.version - 1]];
}

export async function findRow<Row extends object>(
  connection: SqlConnection,
  table: Table<Row>,
  where: string,
  ...values: readonly Value[]
): Promise<Row | undefined> {
  const { rows } = await connection.query(`SELECT ${table.list} FROM ${table.name} WHERE ${where} LIMIT 1`, values);
  return rows[0] && table.toRow(rows[0]);
}

export async function removeRows(
  connection: SqlConnection,
  table: { readonly name: string },
  where: string,
  ...values: readonly Value[]
): Promise<number> {
  return (await connection.query(`DELETE FROM ${table.name} WHERE ${where}`, values)).count;
}

export async function countRows(connection: SqlConnection, table: { readonly name: string }, accountId: string) {
  const sql = `SELECT COUNT(*) AS total FROM ${table.name} WHERE account_id = ?`;
  return Number((await connection.query(sql, [accountId])).rows[0]?.total ?? 0);
}

export function alreadyExists(what: string, id: string): AppError {
  return new AppError('E_ALREADY_EXISTS', `${what} is taken, by ${id}`, { details: { id } });
}
