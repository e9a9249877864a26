import { AppError } from '@croft/protocol';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { newId } from '../../lib/ids.ts';

/** Identifies the caller. Sessions of different keys are always different. */
export type Principal = string;

const plainName = /^[A-Za-z0-9][\x21-\x7e]{0,127}$/;

/** Turns any value into the id of a session. Different names give different ids. */
export function toSessionId(principal: Principal, name: unknown): string {
  if (typeof name === 'string' && plainName.test(name)) return `${principal}/${name}`;
  return `${principal}/#${sha256(JSON.stringify(name))}`;
}

export function principalOf(sessionId: string): Principal {
  return sessionId.slice(0, sessionId.indexOf('/'));
}

/** Returns the caller's name of the session, without the id of the key. */
export function sessionNameOf(sessionId: string): string {
  return sessionId.slice(sessionId.indexOf('/') + 1);
}

/** A call under a name with this prefix has the limits of that child session, or is refused. */
const childPrefix = 'ses_';

/** Makes a name that only the server gives out. */
export function newChildName(): string {
  return newId('ses');
}

/** True also for a misspelt child name: that must not count as a session with all rights of its agent. */
export function isChildId(sessionId: string): boolean {
  return sessionId.slice(sessionId.lastIndexOf('/') + 1).startsWith(childPrefix);
}

/** One of the places in which a request may name its session. */
export interface SessionClaim {
  /** The header or field, for error messages: `Croft-Session`, `_meta["croft/session"]`. */
  readonly where: string;
  readonly name: unknown;
}

/**
 * Returns the session that a request names, or `undefined` if it names none: one rule for every interface and every era
 * of MCP. Throws `E_INVALID_INPUT` for an invalid name, and for two different names.
 */
export function resolveSessionName(claims: readonly SessionClaim[]): string | undefined {
  const [first, ...others] = claims.map(({ where, name }) => ({ where, name: mustBeName(where, name) }));
  const other = others.find(({ name }) => name !== first?.name);
  if (first && other)
    throw new AppError(
      'E_INVALID_INPUT',
      `${first.where} names the session ${first.name}, and ${other.where} names ${other.name}: name one session`,
    );
  return first?.name;
}

function mustBeName(where: string, name: unknown): string {
  if (typeof name === 'string' && /^[\x21-\x7e]{1,128}$/.test(name)) return name;
  throw new AppError('E_INVALID_INPUT', `${where} takes 1 to 128 visible characters without spaces`, {
    details: { header: where },
  });
}

export function sessionNotFound(sessionId: string): AppError {
  return new AppError('E_NOT_FOUND', 'Session not found', { details: { session: sessionNameOf(sessionId) } });
}
