import { randomBytes } from 'node:crypto';

export type IdPrefix = 'acct' | 'agent' | 'sb' | 'ws' | 'ap' | 'key' | 'ses';

/** Makes an id such as `sb_` plus 24 hex digits: not guessable, and its prefix tells the kind of record. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** Makes a random name for something that is not a record. */
export function newRandomName(prefix: string): string {
  return `${prefix}-${randomBytes(12).toString('hex')}`;
}

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-f]{24}$/.test(text.slice(prefix.length + 1));
}

/** Makes a secret of 256 bits. Secret scanners recognise it by its prefix. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}
