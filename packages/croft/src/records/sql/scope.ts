import { AppError } from '@croft/protocol';
import type { Connection, Value } from './database.ts';

const maxBytes = 16 * 1024 * 1024;

export interface Scope extends Connection {
  /** From here on nothing gets through, as from work that was given up and is still running. */
  close(): void;
  /** Throws what spoiled it, if anything did. */
  checkSound(): void;
}

/**
 * The connection as one piece of work sees it. A statement that fails spoils the whole of it, because PostgreSQL has it
 * so: work that swallowed the failure must not be kept by one store and refused by the other.
 */
export function createScope(connection: Connection): Scope {
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
      if (isClosed) throw new AppError('E_INTERNAL', 'these tables belong to a change or a look that is over');
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

/** PostgreSQL holds no NUL, and neither store half a surrogate pair: what cannot be kept exactly is not kept. */
function checkStorable(value: Value): void {
  if (typeof value !== 'string') return;
  if (value.includes('\0')) throw unstorable('it has a NUL character in it');
  if (!value.isWellFormed()) throw unstorable('it has half of a character in it (a lone surrogate)');
  if (value.length > maxBytes / 4 && Buffer.byteLength(value) > maxBytes) {
    throw unstorable(`it is larger than ${maxBytes} bytes`);
  }
}

function unstorable(why: string): AppError {
  return new AppError('E_INVALID_INPUT', `a text cannot be kept, because ${why}; leave that out`);
}
