import type { Records } from '../core/accounts/records.ts';
import { createRecords } from './sql/records.ts';

/** A file for SQLite, or the URL of a PostgreSQL database. */
export type RecordsOptions = ({ readonly file: string } | { readonly url: string }) & {
  /** How long connecting, a lock, a statement or a whole piece of work may take. */
  readonly deadlineMs?: number | undefined;
};

const defaultDeadlineMs = 15_000;

/** Throws `AppError` with words for the operator. A driver is loaded only if it is used. */
export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { deadlineMs = defaultDeadlineMs } = options;
  if ('file' in options) {
    const { openSqlite } = await import('./sqlite.ts');
    return createRecords(await openSqlite(options.file, deadlineMs));
  }
  const { openPostgres } = await import('./postgres.ts');
  return createRecords(await openPostgres(options.url, deadlineMs));
}
