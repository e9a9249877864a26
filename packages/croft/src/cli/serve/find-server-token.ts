import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isToken } from '../../config.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { replacePrivateFile } from '../../lib/files/private-file.ts';
import { UsageError } from '../../lib/usage-error.ts';

/**
 * Finds the token that clients must send: from the environment, or from a file that is made once and only its owner can
 * read.
 */
export function findServerToken(
  data: string,
  fromEnvironment: string | undefined,
  name = 'token',
): { value: string; file?: string } {
  if (fromEnvironment !== undefined) return { value: fromEnvironment };
  const file = join(data, name);
  const value = readToken(file);
  if (!isToken(value)) throw new UsageError(`${file} holds no token; delete it to have a new one made`);
  return { value, file };
}

function readToken(file: string): string {
  try {
    if (!statSync(file, { throwIfNoEntry: false }))
      replacePrivateFile(file, `${randomBytes(32).toString('base64url')}\n`, 'if-absent');
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  } catch (thrown) {
    throw new UsageError(`${file} cannot be used: ${errorMessage(thrown)}`);
  }
}
