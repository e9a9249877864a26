import { isId, newId } from '../lib/ids.ts';
import { sha256 } from '../lib/sha256.ts';

/** Who calls: sessions of different keys never meet. */
export type Principal = string;

const plainName = /^[A-Za-z0-9][\x21-\x7e]{0,127}$/;

/** Whatever was given as a name is one, and no two names are the same session. */
export function toSessionId(principal: Principal, name: unknown): string {
  if (typeof name === 'string' && plainName.test(name)) return `${principal}/${name}`;
  return `${principal}/#${sha256(JSON.stringify(name))}`;
}

export function principalIn(sessionId: string): Principal {
  return sessionId.slice(0, sessionId.indexOf('/'));
}

/** A name that only the server gives: whoever calls under it has the fence it was given, or nothing. */
export function newChildName(): string {
  return newId('ses');
}

export function isChildId(sessionId: string): boolean {
  return isId('ses', sessionId.slice(sessionId.lastIndexOf('/') + 1));
}
