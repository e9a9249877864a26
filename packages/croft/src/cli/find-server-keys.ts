import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RingKey } from '../lib/crypto/keyring.ts';
import { replacePrivateFile } from '../lib/files/private-file.ts';
import { UsageError } from '../lib/usage-error.ts';

/** The keys that seal records (the newest first), and the pepper that tokens are hashed with, which never changes. */
export interface ServerKeys {
  readonly pepper: Buffer;
  readonly ring: readonly RingKey[];
  /** The key file. Missing if the keys came from the environment. */
  readonly file?: string | undefined;
  /** Reads the file again. Missing if the keys came from the environment, which does not change. */
  reread?(): readonly RingKey[];
}

const bytes = 32;

/** Reads the keys from the environment, or from a file that is made once and only its owner can read. */
export function findServerKeys(data: string, fromEnvironment: string | undefined): ServerKeys {
  if (fromEnvironment !== undefined) return parse(fromEnvironment, 'CROFT_KEYS');
  const file = join(data, 'keys');
  if (!statSync(file, { throwIfNoEntry: false })) {
    mustBeNew(data, file);
    replacePrivateFile(file, render({ pepper: randomBytes(bytes), ring: [newKey()] }), 'if-absent');
  }
  return readKeys(file);
}

function readKeys(file: string): ServerKeys {
  const read = () => parse(readFileSync(file, 'utf8'), file);
  return { ...read(), file, reread: () => read().ring };
}

/**
 * Throws if records exist without their key file. Without the keys no record can be opened and no key of an account is
 * known.
 */
function mustBeNew(data: string, file: string): void {
  const database = join(data, 'croft.db');
  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
  // Another process that started at the same time may have made both files by now.
  if (!isThere(database) || isThere(file)) return;
  throw new UsageError(
    `${file} is missing, which ${database} was sealed with: put it back from a backup, or set CROFT_KEYS to what it held`,
  );
}

/**
 * Adds a new key after the others: it is known, but nothing is sealed with it yet. The old keys stay, because they open
 * what was sealed with them.
 */
export function addKey(keys: ServerKeys): ServerKeys {
  return write(keys, [...keys.ring, newKey()]);
}

/** Puts a key first: from now on records are sealed with it. */
export function promoteKey(keys: ServerKeys, id: string): ServerKeys {
  return write(
    keys,
    keys.ring.toSorted((one, other) => Number(other.id === id) - Number(one.id === id)),
  );
}

function write({ file, pepper }: ServerKeys, ring: readonly RingKey[]): ServerKeys {
  if (file === undefined) throw new UsageError('the keys come from CROFT_KEYS: change them there');
  replacePrivateFile(file, render({ pepper, ring }), 'always');
  return readKeys(file);
}

function newKey(): RingKey {
  return { id: `k${randomBytes(4).toString('hex')}`, key: randomBytes(bytes) };
}

function render({ pepper, ring }: ServerKeys): string {
  const lines = ring.map(({ id, key }) => `${id} ${key.toString('base64url')}\n`);
  return `pepper ${pepper.toString('base64url')}\n${lines.join('')}`;
}

/**
 * Parses `name value` entries, separated by line breaks or commas. Anything else stops the program, because a wrong key
 * loses records.
 */
function parse(text: string, where: string): ServerKeys {
  const entries = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line, index) => parseEntry(line, `${where}, entry ${index + 1}`));
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
    throw new UsageError(
      `${where}, is not a name, a space and ${bytes} bytes in base64url: put it back as it was, from a backup or another server`,
    );
  return { id, key };
}
