import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RingKey } from '../lib/crypto/keyring.ts';
import { replaceOwnFile } from '../lib/own-file.ts';
import { UsageError } from '../lib/usage-error.ts';

/** What seals records (the newest first), and what tokens are hashed with, which never changes. */
export interface ServerKeys {
  readonly pepper: Buffer;
  readonly ring: readonly RingKey[];
  /** Left out: they came from the environment. */
  readonly file?: string | undefined;
}

const bytes = 32;

/** From the environment, else from a file that is made once and read by its owner alone. */
export function findKeys(data: string, fromEnvironment: string | undefined): ServerKeys {
  if (fromEnvironment !== undefined) return parse(fromEnvironment, 'CROFT_KEYS');
  const file = join(data, 'keys');
  if (!statSync(file, { throwIfNoEntry: false })) {
    mustBeNew(data, file);
    replaceOwnFile(file, render({ pepper: randomBytes(bytes), ring: [newKey()] }), 'if-absent');
  }
  return { ...parse(readFileSync(file, 'utf8'), file), file };
}

/** Keys are there before records are: without them nobody could open those, and no key of an account would be known. */
function mustBeNew(data: string, file: string): void {
  const database = join(data, 'croft.db');
  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
  // Of two that start at once, the first may have made both by now.
  if (!isThere(database) || isThere(file)) return;
  throw new UsageError(
    `${file} is missing, which ${database} was sealed with: put it back from a backup, or set CROFT_KEYS to what it held`,
  );
}

/** Puts a new key before the others. The old ones stay: they open what was sealed with them. */
export function addKey({ file, ...keys }: ServerKeys): ServerKeys {
  if (file === undefined)
    throw new UsageError('the keys come from CROFT_KEYS: put a new one first there, and try again');
  const next = { ...keys, ring: [newKey(), ...keys.ring] };
  replaceOwnFile(file, render(next), 'always');
  return { ...next, file };
}

function newKey(): RingKey {
  return { id: `k${randomBytes(4).toString('hex')}`, key: randomBytes(bytes) };
}

function render({ pepper, ring }: ServerKeys): string {
  const lines = ring.map(({ id, key }) => `${id} ${key.toString('base64url')}\n`);
  return `pepper ${pepper.toString('base64url')}\n${lines.join('')}`;
}

/** `name value` in lines or separated by commas. Anything else stops the program: a wrong key loses records. */
function parse(text: string, where: string): ServerKeys {
  const entries = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => parseEntry(line, where));
  const [pepper, ...ring] = entries;
  if (pepper?.id !== 'pepper' || ring.length === 0)
    throw new UsageError(
      `${where} must hold: pepper, then one key or more, each a name and ${bytes} bytes in base64url`,
    );
  return { pepper: pepper.key, ring };
}

function parseEntry(line: string, where: string): RingKey {
  const [, id = '', value = ''] = /^([a-z0-9-]{1,32})[ =]+([A-Za-z0-9_-]+)$/.exec(line) ?? [];
  const key = Buffer.from(value, 'base64url');
  if (key.length !== bytes)
    throw new UsageError(`${where} has an entry that is not a name and ${bytes} bytes in base64url`);
  return { id, key };
}
