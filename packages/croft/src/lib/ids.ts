import { randomBytes } from 'node:crypto';

export type IdPrefix = 'acct' | 'agent' | 'sb' | 'ws' | 'ap' | 'key' | 'ses';

/** `sb_` and 24 hex digits: nobody guesses one, and everybody sees what it names. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** The same of something that is no record. */
export function newName(prefix: string): string {
  return `${prefix}-${randomBytes(12).toString('hex')}`;
}

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-f]{24}$/.test(text.slice(prefix.length + 1));
}

/** A secret that is shown once: 256 bits, with a name by which scanners know it. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}
