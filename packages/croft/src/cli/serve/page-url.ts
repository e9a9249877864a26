import { isIP } from 'node:net';
import { pageHost } from '../../rest/http/guards.ts';

/**
 * Returns the address of the page. On this machine it uses a host name of its own, because other apps at 127.0.0.1 and
 * localhost would get its cookies.
 */
export function pageUrl(serverUrl: string): string {
  const { protocol, hostname, port, origin } = new URL(serverUrl);
  const plain = hostname.replace(/^\[|\]$/g, '');
  const isHere = plain === 'localhost' || plain === '::1' || plain === '::' || plain === '0.0.0.0';
  const isLoopback = isHere || (isIP(plain) === 4 && plain.startsWith('127.'));
  if (protocol !== 'http:' || !isLoopback) return origin;
  return `http://${pageHost}${port === '' ? '' : `:${port}`}`;
}
