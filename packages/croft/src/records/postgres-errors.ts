import { AppError, type ErrorCode } from '@croft/protocol';

const unreachable =
  'PostgreSQL cannot be reached: check that it runs, and that the URL names it (host, port, database, user). ' +
  'Croft connects again by itself, so that nothing has to be started anew';

/** By PostgreSQL's code, or by its class, the first two characters. */
const meanings: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  23503: ['E_NOT_FOUND', 'there is no such account'],
  23505: ['E_ALREADY_EXISTS', 'there is such a record'],
  25006: ['E_STORAGE_FAILED', 'this PostgreSQL may only be read, as a standby; give the URL of the primary'],
  28: ['E_STORAGE_FAILED', 'PostgreSQL refused the user or the password in the URL; correct them'],
  '3D': ['E_STORAGE_FAILED', 'PostgreSQL has no database of the name in the URL; make it with createdb, or correct it'],
  '3F': ['E_STORAGE_FAILED', 'PostgreSQL has no schema of the name in the URL; make it, or correct search_path'],
  40: ['E_STORAGE_FAILED', 'PostgreSQL gave the change up because of another one; try again'],
  42501: ['E_STORAGE_FAILED', 'the user in the URL may not do that; make it the owner of the database'],
  53100: ['E_STORAGE_FULL', 'the disk of PostgreSQL is full; free space there'],
  53: ['E_STORAGE_FAILED', 'PostgreSQL has no room for another connection or not enough memory; give it more'],
  '55P03': ['E_STORAGE_FAILED', 'another server has been changing the records for too long; try again, or end it'],
  57014: ['E_STORAGE_FAILED', 'PostgreSQL took too long for one statement; see what keeps it busy'],
};

/** Classes and codes after which nothing was kept and the same again may work. */
const passing = ['40', '08', '57P01', '57P02', '57P03', '25P03'];
const lost = ['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'ECONNRESET', 'EPIPE'];

/** Without PostgreSQL's own message, which may quote values. */
export function postgresError(thrown: unknown): AppError {
  if (AppError.is(thrown)) return thrown;
  const code = codeOf(thrown);
  const [ours, message] = meanings[code] ?? meanings[code.slice(0, 2)] ?? ['E_STORAGE_FAILED', otherwise(code)];
  return new AppError(ours, message, { cause: new Error(`PostgreSQL: ${code}`) });
}

function otherwise(code: string): string {
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && !/^(08|57)/.test(code);
  return isAnswer ? `PostgreSQL refused a statement, with code ${code}; its log says why` : unreachable;
}

export function isPassing(thrown: unknown): boolean {
  const cause = AppError.is(thrown) && thrown.cause instanceof Error ? thrown.cause.message : '';
  const code = cause.replace(/^PostgreSQL: /, '');
  return lost.includes(code) || passing.some((start) => code.startsWith(start));
}

/** When the word that it was kept did not arrive. */
export function unknownOutcome(thrown: unknown): AppError {
  const error = postgresError(thrown);
  const code = codeOf(thrown);
  // PostgreSQL itself said that it was not.
  if (/^(?!57|08)[0-9A-Z]{5}$/.test(code)) return error;
  return new AppError(
    'E_STORAGE_FAILED',
    'the connection to PostgreSQL was lost at the end of a change, which may have been kept or not: look before you ' +
      'make it again',
  );
}

export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}
