import { AppError } from '@croft/protocol';
import { resolveSessionName, type SessionClaim } from '../core/sessions/session-name.ts';

const metaKey = 'croft/session';
const inMeta = `_meta["${metaKey}"]`;

/**
 * Returns the session that an HTTP request names: by `Croft-Session`, by the headers in `also`, or in any message of
 * the body. Throws if the names differ.
 */
export function readSessionName(headers: Headers, body: unknown, ...also: string[]): string | undefined {
  const messages = Array.isArray(body) ? body : [body];
  const named = ['Croft-Session', ...also].map((where) => ({ where, name: headers.get(where) }));
  return resolveSessionName([
    ...named.filter(({ name }) => name !== null),
    ...messages.flatMap((message) => claimsIn(asRecord(message)?.params)),
  ]);
}

export function namesSession(params: unknown): boolean {
  return claimsIn(params).length > 0;
}

/** Over stdio the connection is the session, so that a request may not name one. */
export function mustNameNoSession(meta: unknown): void {
  if (claimsIn({ _meta: meta }).length === 0) return;
  throw new AppError('E_INVALID_INPUT', `over stdio the connection is the session: leave ${inMeta} out`);
}

function claimsIn(params: unknown): SessionClaim[] {
  const meta = asRecord(asRecord(params)?._meta);
  return meta && metaKey in meta ? [{ where: inMeta, name: meta[metaKey] }] : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
