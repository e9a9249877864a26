import { AppError, type ErrorCode } from '@croft/protocol';
import { sqliteErrorKind, sqliteErrorNumber, sqliteKinds } from '../../lib/sqlite/sqlite-error-kind.ts';
import { databaseFullHint } from '../sql/nothing-stored-hint.ts';

const foreignKey = 787;

/** Code and message for each kind of SQLite error. */
const meanings: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  5: ['E_STORAGE_FAILED', 'another process has locked the database'],
  6: ['E_STORAGE_FAILED', 'the database is locked by another change'],
  8: ['E_STORAGE_FAILED', 'the database cannot be written: check owner and mode of its file and directory'],
  10: ['E_STORAGE_FAILED', 'the disk of the database failed: check that disk before anything else'],
  11: ['E_STORAGE_FAILED', 'the database file is damaged: stop croft and restore a backup'],
  13: ['E_STORAGE_FULL', 'the disk of the database is full'],
  14: ['E_STORAGE_FAILED', 'the database cannot be opened: check its path, and owner and mode of its directory'],
  26: ['E_STORAGE_FAILED', 'the file is not a database: name a new file, or the one that Croft used before'],
};

/** Converts an error. SQLite's own message names tables, so it is only in the cause. */
export function sqliteError(thrown: unknown): AppError {
  if (AppError.is(thrown)) return thrown;
  if (sqliteErrorNumber(thrown) === foreignKey)
    return new AppError('E_NOT_FOUND', 'there is no such account', { cause: thrown });
  const [code, message] = meanings[sqliteErrorKind(thrown) ?? 0] ?? [
    'E_STORAGE_FAILED',
    'the database failed, and the log of the server has the cause',
  ];
  const hint = code === 'E_STORAGE_FULL' ? databaseFullHint : undefined;
  return new AppError(code, message, { cause: thrown, hint });
}

/** Whether the disk was full. SQLite has stored nothing then. */
export function isFull(thrown: unknown): boolean {
  return AppError.is(thrown) && sqliteErrorKind(thrown.cause) === sqliteKinds.full;
}
