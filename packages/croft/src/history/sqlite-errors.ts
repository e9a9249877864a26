import { AppError, type ErrorCode } from '@croft/protocol';
import { errnoOf } from '../disk/errors.ts';

/** SQLite's own numbers, of which the lower eight bits are the kind. */
const busyKinds = [5, 6];
/** The shared index of the log could not grow: on a full disk that is the first thing that fails. */
const indexTooSmall = 4874;

const failed = 'E_STORAGE_FAILED';
const meanings: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  5: [failed, 'another process holds the history of this workspace; end it, or try again when it is done'],
  6: [failed, 'the history of this workspace is locked; try again'],
  8: [failed, 'the history cannot be written; check owner and mode of the file and its directory'],
  10: [failed, 'the disk of the history failed; check it before anything else'],
  11: [
    failed,
    'the history file is damaged; stop croft and restore a backup, or move it away to start without history',
  ],
  13: ['E_STORAGE_FULL', 'the disk of the history is full; free space there, or delete snapshots'],
  14: [failed, 'the history cannot be opened; check the path, and owner and mode of its directory'],
  26: [failed, 'the history file is not a database; move it away to start without history'],
};

/** Without SQLite's own message, which names tables; it is the cause. */
export function historyError(thrown: unknown): unknown {
  const number = numberOf(thrown);
  if (number === undefined) return thrown;
  return toError(number === indexTooSmall ? 13 : number & 0xff, thrown);
}

/** Of the kernel, when the log is to be on the disk: some file systems find only then that there is no room. */
export function syncError(thrown: unknown): AppError {
  return toError(errnoOf(thrown) === 'ENOSPC' ? 13 : 10, thrown);
}

function toError(kind: number, cause: unknown): AppError {
  const [code, message] = meanings[kind] ?? [failed, 'the history failed; see its cause'];
  return new AppError(code, message, { cause });
}

export function isBusy(thrown: unknown): boolean {
  return busyKinds.includes((numberOf(thrown) ?? 0) & 0xff);
}

function numberOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number'
    ? thrown.errcode
    : undefined;
}

export function missingContent(hash: string): AppError {
  const message = `the history does not have the content ${hash.slice(0, 12)}; it was too large to be kept, or is lost`;
  return new AppError(failed, message, { details: { hash } });
}

export function rottenContent(hash: string): AppError {
  const message = `the content ${hash.slice(0, 12)} of the history is not what was kept: the disk or the file is damaged`;
  return new AppError(failed, message, { details: { hash } });
}

export function unfitContent(hash: string): AppError {
  const message = `bytes given as ${hash.slice(0, 12)} are others: they changed while they were read`;
  return new AppError(failed, message, { details: { hash } });
}
