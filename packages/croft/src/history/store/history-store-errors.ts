import { AppError, type ErrorCode } from '@croft/protocol';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { sqliteErrorKind, sqliteKinds } from '../../lib/sqlite/sqlite-error-kind.ts';

const failed = 'E_STORAGE_FAILED';
/** Code and message for each kind of SQLite error. */
const meanings: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  5: [failed, 'another process has locked the history of this workspace'],
  6: [failed, 'the history of this workspace is locked by another of its changes'],
  8: [failed, 'the history cannot be written: check owner and mode of its file and directory'],
  10: [failed, 'the disk of the history failed: check that disk before anything else'],
  11: [
    failed,
    'the history file is damaged: stop croft and restore a backup, or move the file away to start without a history',
  ],
  13: ['E_STORAGE_FULL', 'the disk of the history is full'],
  14: [failed, 'the history cannot be opened: check its path, and owner and mode of its directory'],
  26: [failed, 'the history file is not a database: move it away to start without a history'],
};

/** Translates an error of SQLite. Its own message names tables, so it becomes the cause. */
export function historyError(thrown: unknown): unknown {
  const kind = sqliteErrorKind(thrown);
  return kind === undefined ? thrown : toError(kind, thrown);
}

/** Translates an error of fsync. Some file systems report a full disk only then. */
export function syncError(thrown: unknown): AppError {
  return toError(errnoOf(thrown) === 'ENOSPC' ? sqliteKinds.full : sqliteKinds.diskFailed, thrown);
}

function toError(kind: number, cause: unknown): AppError {
  const [code, message] = meanings[kind] ?? [failed, 'the history failed, and the log of the server has the cause'];
  return new AppError(code, message, { cause });
}

export function missingContent(hash: string): AppError {
  const message = `the history does not have the content ${hash.slice(0, 12)}; it was too large to be kept, or was lost`;
  return new AppError(failed, message, { details: { hash } });
}

export function rottenContent(hash: string): AppError {
  const message = `the content ${hash.slice(0, 12)} of the history is not what was kept: the disk or the file is damaged`;
  return new AppError(failed, message, { details: { hash } });
}

export function unfitContent(hash: string): AppError {
  const message = `the bytes given for ${hash.slice(0, 12)} do not match that hash: they changed while they were read`;
  return new AppError(failed, message, { details: { hash } });
}
