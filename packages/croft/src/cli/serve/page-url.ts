import { isIP } from 'node:net';
import { pageHost } from '../../rest/http/guards.ts';

/**
 * The address of the page of a server. On this machine it has a name of its own: other apps are at 127.0.0.1 and
 * localhost too, and would get its cookies.
 */
export function pageUrl(serverUrl: string): string {
  const { protocol, hostname, port, origin } = new URL(serverUrl);
  const plain = hostname.replace(/^\[|\]$/g, '');
  const isHere = plain === 'localhost' || plain === '::1' || plain === '::' || plain === '0.0.0.0';
  const isLoopback = isHere || (isIP(plain) === 4 && plain.startsWith('127.'));
  if (protocol !== 'http:' || !isLoopback) return origin;
  return `http://${pageHost}${port === '' ? '' : `:${port}`}`;
}
