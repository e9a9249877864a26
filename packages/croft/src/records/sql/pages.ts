import { AppError } from '@croft/protocol';
import type { Paged, PageRequest } from '../../core/accounts/ports/pages.ts';
import type { Table } from './columns.ts';
import type { SqlConnection, Value } from './database.ts';

const maxLimit = 1000;

interface Query<Row extends object> {
  readonly table: Table<Row>;
  /** Conditions, joined with AND. */
  readonly where: readonly string[];
  readonly values: readonly Value[];
  readonly order: string;
  readonly limit: number;
  /** The cursor after a row, from its stored columns. */
  toNext(stored: Readonly<Record<string, unknown>>): string;
}

/** Reads one page. One more row than the limit is queried, to know whether there is a next page. */
export async function readPage<Row extends object>(connection: SqlConnection, query: Query<Row>): Promise<Paged<Row>> {
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
  readonly page: PageRequest;
}

/**
 * Reads a page in order of creation, which the column `place` counts within an account. A page continues after a
 * `place` number, so it does not matter if that row was removed meanwhile.
 */
export function readListing<Row extends object>(connection: SqlConnection, listing: Listing<Row>): Promise<Paged<Row>> {
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

/** Reads a page over all accounts. `after` is the two columns, URL-encoded and joined with a slash. */
export function readAll<Row extends object>(
  connection: SqlConnection,
  table: Table<Row>,
  column: string,
  { limit, after }: PageRequest,
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

/** Parses a numeric cursor, within the range of both databases. */
export function parseNumber(after: string): number {
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw badPage();
}

function parsePair(after: string): string[] {
  try {
    const parts = after.split('/').map(decodeURIComponent);
    if (parts.length === 2) return parts;
  } catch {
    // Malformed encoding: not a cursor of ours either.
  }
  throw badPage();
}

function badPage(): AppError {
  return new AppError('E_INVALID_INPUT', 'invalid page cursor: pass `next` of the previous page unchanged');
}
