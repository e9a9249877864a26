import { AppError, type ErrorCode } from '@croft/protocol';
import { databaseFullHint, nothingStoredHint } from '../sql/nothing-stored-hint.ts';

const unreachable =
  'PostgreSQL cannot be reached: check that it runs, and that the URL names it (host, port, database, user)';
const connectsAgain = `${unreachable}. Croft reconnects by itself: nothing has to be restarted`;

/** Our error by PostgreSQL's code or by the code's class, its first two characters. */
const meanings: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  23503: ['E_NOT_FOUND', 'there is no such account'],
  23505: ['E_ALREADY_EXISTS', 'the record already exists'],
  25006: ['E_STORAGE_FAILED', 'this PostgreSQL is a standby, which may only be read: give the URL of the primary'],
  28: ['E_STORAGE_FAILED', 'PostgreSQL refused the user or the password in the URL: correct them'],
  '3D': [
    'E_STORAGE_FAILED',
    'PostgreSQL has no database of the name in the URL: make it with createdb, or correct the name',
  ],
  '3F': ['E_STORAGE_FAILED', 'PostgreSQL has no schema of the name in the URL: make it, or correct search_path'],
  40: ['E_STORAGE_FAILED', 'PostgreSQL cancelled the change, because another change was in its way'],
  42501: ['E_STORAGE_FAILED', 'the user in the URL lacks a right: make this user the owner of the database'],
  53100: ['E_STORAGE_FULL', 'the disk of PostgreSQL is full'],
  53: ['E_STORAGE_FAILED', 'PostgreSQL lacks connections or memory: raise max_connections, or give it more memory'],
  '55P03': ['E_STORAGE_FAILED', 'another server has kept the records locked for too long: see what it does, or end it'],
  57014: ['E_STORAGE_FAILED', 'PostgreSQL took too long for one statement: see what keeps it busy'],
};

const hints: Readonly<Partial<Record<ErrorCode, string>>> = {
  E_STORAGE_FAILED: nothingStoredHint,
  E_STORAGE_FULL: databaseFullHint,
};

/** Classes and codes after which nothing was stored and a retry may succeed. */
const transientCodes = ['40', '08', '57P01', '57P02', '57P03', '25P03'];
const connectionLostCodes = ['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'ECONNRESET', 'EPIPE'];

/** Converts an error. Leaves out PostgreSQL's own message, which may quote values. */
export function postgresError(thrown: unknown): AppError {
  if (AppError.is(thrown)) return thrown;
  const code = codeOf(thrown);
  const [ours, message] = meanings[code] ?? meanings[code.slice(0, 2)] ?? ['E_STORAGE_FAILED', otherwise(code)];
  const hint = hints[ours];
  return new AppError(ours, message, { cause: new Error(`PostgreSQL: ${code}`), hint });
}

function otherwise(code: string): string {
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && !/^(08|57)/.test(code);
  return isAnswer ? `PostgreSQL refused a statement with code ${code}: its log says why` : connectsAgain;
}

/** Changes the message of a failed connection at start: the server exits, so nothing reconnects. */
export function forStart(thrown: unknown): unknown {
  if (!AppError.is(thrown) || thrown.message !== connectsAgain) return thrown;
  return new AppError(thrown.code, `${unreachable}, and then start croft again`, { cause: thrown });
}

export function isTransient(thrown: unknown): boolean {
  const cause = AppError.is(thrown) && thrown.cause instanceof Error ? thrown.cause.message : '';
  const code = cause.replace(/^PostgreSQL: /, '');
  return connectionLostCodes.includes(code) || transientCodes.some((start) => code.startsWith(start));
}

/** Converts the error of a COMMIT whose confirmation did not arrive. */
export function unknownOutcome(thrown: unknown): AppError {
  const error = postgresError(thrown);
  const code = codeOf(thrown);
  // PostgreSQL itself said that nothing was committed.
  if (/^(?!57|08)[0-9A-Z]{5}$/.test(code)) return error;
  return new AppError(
    'E_STORAGE_FAILED',
    'the connection to PostgreSQL was lost while a change was committed: it may or may not have been stored',
    { hint: 'Check whether the change is there before you repeat it.' },
  );
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}
