import { AppError } from '@croft/protocol';
import type { Page, Paged } from '../../core/accounts/records.ts';
import type { Table } from './columns.ts';
import type { Connection, Value } from './database.ts';

const maxLimit = 1000;

interface Query<Row extends object> {
  readonly table: Table<Row>;
  /** Conditions, all of which hold. */
  readonly where: readonly string[];
  readonly values: readonly Value[];
  readonly order: string;
  readonly limit: number;
  /** What goes on after a row, by its stored columns. */
  toNext(stored: Readonly<Record<string, unknown>>): string;
}

/** One row more than asked for tells whether there is a next page. */
export async function readPage<Row extends object>(connection: Connection, query: Query<Row>): Promise<Paged<Row>> {
  const limit = checkLimit(query.limit);
  const where = query.where.length > 0 ? `WHERE ${query.where.join(' AND ')}` : '';
  const sql = `SELECT * FROM ${query.table.name} ${where} ORDER BY ${query.order} LIMIT ?`;
  const { rows } = await connection.query(sql, [...query.values, limit + 1]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    rows: shown.map(query.table.toRow),
    ...(rows.length > limit && last && { next: query.toNext(last) }),
  };
}

interface Listing<Row extends object> {
  readonly table: Table<Row>;
  readonly where?: readonly string[];
  readonly values?: readonly Value[];
  readonly newestFirst?: true;
  readonly page: Page;
}

/**
 * In order of making, which is counted in the column `place` within an account. A page goes on after a place, so that
 * it makes no difference when the row that was there has gone.
 */
export function readListing<Row extends object>(connection: Connection, listing: Listing<Row>): Promise<Paged<Row>> {
  const { table, where = [], values = [], newestFirst, page } = listing;
  return readPage(connection, {
    table,
    where: page.after === undefined ? where : [...where, `place ${newestFirst ? '<' : '>'} ?`],
    values: page.after === undefined ? values : [...values, parseNumber(page.after)],
    order: `place ${newestFirst ? 'DESC' : 'ASC'}`,
    limit: page.limit,
    toNext: (stored) => String(stored.place),
  });
}

/** Of every account. `after` is the two columns, with what would be ambiguous in them escaped. */
export function readAll<Row extends object>(
  connection: Connection,
  table: Table<Row>,
  column: string,
  { limit, after }: Page,
): Promise<Paged<Row>> {
  return readPage(connection, {
    table,
    where: after === undefined ? [] : [`(account_id, ${column}) > (?, ?)`],
    values: after === undefined ? [] : parsePair(after),
    order: `account_id, ${column}`,
    limit,
    toNext: (stored) => [stored.account_id, stored[column]].map((part) => encodeURIComponent(String(part))).join('/'),
  });
}

export function checkLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return Math.min(limit, maxLimit);
  throw new AppError('E_INVALID_INPUT', `limit must be a whole number of at least 1, not ${limit}`);
}

/** A number of a page, which is within what both stores can hold. */
export function parseNumber(after: string): number {
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw badPage();
}

function parsePair(after: string): string[] {
  try {
    const parts = after.split('/').map(decodeURIComponent);
    if (parts.length === 2) return parts;
  } catch {
    // Not one of ours either.
  }
  throw badPage();
}

function badPage(): AppError {
  return new AppError('E_INVALID_INPUT', 'there is no such page: pass `next` of the page before as it was given');
}
