import { AppError, type ErrorCode } from '@croft/protocol';

/** SQLite's own numbers, of which the lower eight bits are the kind. */
const busyKinds = [5, 6];
const foreignKey = 787;

const meanings: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  5: ['E_STORAGE_FAILED', 'another process holds the database; end it, or try again when it is done'],
  6: ['E_STORAGE_FAILED', 'the database is locked; try again'],
  8: ['E_STORAGE_FAILED', 'the database cannot be written; check owner and mode of the file and its directory'],
  10: ['E_STORAGE_FAILED', 'the disk of the database failed; check it before anything else'],
  11: ['E_STORAGE_FAILED', 'the database file is damaged; stop croft and restore a backup'],
  13: ['E_STORAGE_FULL', 'the disk of the database is full; free space there'],
  14: ['E_STORAGE_FAILED', 'the database cannot be opened; check the path, and owner and mode of its directory'],
  26: ['E_STORAGE_FAILED', 'the file is not a database; name a new file, or the one that Croft used before'],
};

/** Without SQLite's own message, which names tables; it is the cause. */
export function sqliteError(thrown: unknown): AppError {
  if (AppError.is(thrown)) return thrown;
  const number = numberOf(thrown);
  if (number === foreignKey) return new AppError('E_NOT_FOUND', 'there is no such account', { cause: thrown });
  const [code, message] = meanings[number & 0xff] ?? ['E_STORAGE_FAILED', 'the database failed; see its log'];
  return new AppError(code, message, { cause: thrown });
}

export function isBusy(thrown: unknown): boolean {
  return busyKinds.includes(numberOf(thrown) & 0xff);
}

function numberOf(thrown: unknown): number {
  return thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode : 0;
}
