import { runnerLinkPath } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { isLoopback } from '../transport/is-loopback.ts';

const schemes: Readonly<Record<string, string>> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' };

/**
 * Converts a server's address, as people write it, into the WebSocket URL of its runner link. Throws a `UsageError`.
 */
export function toLinkUrl(server: string, isInsecure: boolean): string {
  const url = URL.parse(server);
  const scheme = url && schemes[url.protocol];
  if (!url || !scheme)
    throw new UsageError(`${server} is not the address of a server, such as https://croft.example.com`);
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new UsageError(
      'the address of a server must not have a user name, password or query; the token is read from a file',
    );
  }
  if (scheme === 'ws:' && !isInsecure && !isLoopback(url.hostname)) {
    throw new UsageError(
      `${url.host} is another machine, and the token would be sent unencrypted: use https, or pass --insecure here and at the server`,
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${scheme}//${url.host}${path.endsWith(runnerLinkPath) ? path : `${path}${runnerLinkPath}`}`;
}
