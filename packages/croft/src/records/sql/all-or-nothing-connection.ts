import { AppError } from '@croft/protocol';
import type { SqlConnection, Value } from './database.ts';

const maxBytes = 16 * 1024 * 1024;

interface AllOrNothingConnection extends SqlConnection {
  /** Rejects every further statement, such as those of work that was given up but is still running. */
  close(): void;
  /** Throws the error of the first failed statement, if any. */
  checkSound(): void;
}

/**
 * The connection for one unit of work. A failed statement fails the whole unit, as PostgreSQL does: work that swallowed
 * an error must not be committed by SQLite and refused by PostgreSQL.
 */
export function createAllOrNothingConnection(connection: SqlConnection): AllOrNothingConnection {
  let isClosed = false;
  let spoiled: { thrown: unknown } | undefined;

  function checkSound(): void {
    if (spoiled) throw spoiled.thrown;
  }

  return {
    checkSound,
    close() {
      isClosed = true;
    },
    async query(sql, values = []) {
      if (isClosed) throw new AppError('E_INTERNAL', 'these tables belong to a transaction that is over');
      checkSound();
      for (const value of values) checkStorable(value);
      try {
        return await connection.query(sql, values);
      } catch (thrown) {
        spoiled ??= { thrown };
        throw thrown;
      }
    },
  };
}

/** Rejects text that a database cannot store exactly: PostgreSQL stores no NUL, and neither stores a lone surrogate. */
export function checkStorable(value: Value): void {
  if (typeof value !== 'string') return;
  if (value.includes('\0')) throw unstorable('it has a NUL character in it');
  if (!value.isWellFormed()) throw unstorable('it has half of a character in it (a lone surrogate)');
  if (value.length > maxBytes / 4 && Buffer.byteLength(value) > maxBytes) {
    throw unstorable(`it is larger than ${maxBytes} bytes`);
  }
}

function unstorable(why: string): AppError {
  return new AppError('E_INVALID_INPUT', `a text cannot be stored, because ${why}; remove that`);
}
