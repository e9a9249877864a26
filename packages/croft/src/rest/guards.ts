import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { AppError } from '@croft/protocol';

/**
 * A page of another site can make a browser send requests here under a name its owner points at this machine.
 * Such a name is refused; an address cannot be pointed elsewhere.
 */
export function checkHost(host: string | undefined, names: readonly string[]): void {
  const name = hostName(host);
  if (name === 'localhost' || isIP(name) !== 0 || names.some((known) => hostName(known) === name)) return;
  throw new AppError('E_FORBIDDEN', `this server is not called ${name || 'nothing'}`, { details: { host: name } });
}

/** Browsers say which page a request comes from. Only our own may. */
export function checkOrigin(origin: string | undefined, host: string | undefined): void {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  throw new AppError('E_FORBIDDEN', 'requests from pages of other sites are refused', { details: { origin } });
}

export function checkBearer(authorization: string | undefined, token: string): void {
  if (isSameToken(readBearer(authorization), token)) return;
  throw new AppError('E_UNAUTHORIZED', 'the token is missing or wrong');
}

/** Empty when there is none. */
export function readBearer(authorization: string | undefined): string {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** Of equal length, and in equal time whatever is given. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'));
}

function hostName(host = ''): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d+)?$/.exec(host.toLowerCase()) ?? [];
  return (bracketed ?? plain ?? '').replace(/\.$/, '');
}
