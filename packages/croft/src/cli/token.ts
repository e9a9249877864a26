import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../lib/usage-error.ts';

/** The token clients must send: from the environment, else from a file that is made once and read by its owner alone. */
export function findToken(data: string, fromEnvironment: string | undefined): { value: string; file?: string } {
  if (fromEnvironment !== undefined) return { value: fromEnvironment };
  const file = join(data, 'token');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (!statSync(file, { throwIfNoEntry: false })) create(file);
  chmodSync(file, 0o600);
  const value = readFileSync(file, 'utf8').trim();
  if (value.length < 16) throw new UsageError(`${file} holds no token; delete it to have a new one made`);
  return { value, file };
}

/** Whole or not at all, also when two servers start at once: the link fails for the second. */
function create(file: string): void {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(temporary, file);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  } finally {
    unlinkSync(temporary);
  }
}
