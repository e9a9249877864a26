import type { Records } from '../core/accounts/ports/records.ts';
import { type AuditHooks, createRecords } from './create-records.ts';

/** A file for SQLite, or the URL of a PostgreSQL database. */
export type RecordsOptions = ({ readonly file: string } | { readonly url: string }) & {
  /** Limit for connecting, for waiting for a lock, for one statement and for a whole unit of work. */
  readonly deadlineMs?: number | undefined;
  /**
   * Disk space that SQLite takes for itself in advance, so that changes are stored on a full disk too. Default: none.
   * PostgreSQL has a disk of its own.
   */
  readonly reservedBytes?: number | undefined;
  /** Without it, the audit trail is chained without a key. */
  readonly audit?: AuditHooks | undefined;
};

const defaultDeadlineMs = 15_000;

/** Throws `AppError` with a message for the operator. Loads only the driver that is used. */
export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { deadlineMs = defaultDeadlineMs, reservedBytes = 0 } = options;
  if ('file' in options) {
    const { openSqliteDatabase } = await import('./sqlite/sqlite-database.ts');
    return createRecords(await openSqliteDatabase(options.file, { deadlineMs, reservedBytes }), options.audit);
  }
  const { openPostgresDatabase } = await import('./postgres/postgres-database.ts');
  return createRecords(await openPostgresDatabase(options.url, deadlineMs), options.audit);
}
