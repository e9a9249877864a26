import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { AppError } from '@croft/protocol';
import { BoundedMap } from '../../lib/bounded-map.ts';

/**
 * The name of the page on this machine: browsers resolve it to loopback by themselves, and no other app has its cookies.
 */
export const pageHost = 'croft.localhost';

/**
 * Refuses unknown host names, against DNS rebinding: another site can point its own name at this machine and make a
 * browser send requests here. An IP address cannot be rebound.
 */
export function checkHost(host: string | undefined, names: readonly string[]): void {
  const name = hostName(host);
  if (name === 'localhost' || name === pageHost || isIP(name) !== 0 || names.some((known) => hostName(known) === name))
    return;
  throw new AppError('E_FORBIDDEN', `this server is not called ${name || 'nothing'}`, {
    details: { host: name },
    hint: 'Use its address or localhost, or ask the operator to start it with --allow-host and the name.',
  });
}

/** Refuses requests of browsers from pages of other sites. */
export function checkOrigin(origin: string | undefined, host: string | undefined): void {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  throw new AppError('E_FORBIDDEN', 'requests from pages of other sites are refused', {
    details: { origin },
    hint: 'Call it from a program, or from the server’s own page.',
  });
}

export function checkBearer(authorization: string | undefined, token: string): void {
  if (isSameToken(readBearer(authorization), token)) return;
  throw new AppError('E_UNAUTHORIZED', 'the token is missing or wrong', {
    hint: 'Send Authorization: Bearer with the server’s token.',
  });
}

/** Returns an empty text if there is no bearer token. */
export function readBearer(authorization: string | undefined): string {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** Compares hashes of equal length in constant time. `token` is one of the few of this server. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(hashToken(given), own.get(token) ?? hashOwn(token));
}

/** Hashes of the tokens of this server, which every request is compared with. */
const own = new BoundedMap<string, Buffer>(8);

function hashOwn(token: string): Buffer {
  const hashed = hashToken(token);
  own.set(token, hashed);
  return hashed;
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export function hostName(host = ''): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d+)?$/.exec(host.toLowerCase()) ?? [];
  return (bracketed ?? plain ?? '').replace(/\.$/, '');
}
