import { runnerLinkPath } from '@croft/protocol';
import { UsageError } from '../lib/usage-error.ts';
import { isLoopback } from './loopback.ts';

const schemes: Readonly<Record<string, string>> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' };

/** The address of the link of a server, which is given as people write it. Throws a `UsageError`. */
export function toLinkUrl(server: string, isInsecure: boolean): string {
  const url = URL.parse(server);
  const scheme = url && schemes[url.protocol];
  if (!url || !scheme) throw new UsageError(`${server} is no address of a server, such as https://croft.example.com`);
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new UsageError('the address of a server holds no name, password or query; its token is in a file');
  }
  if (scheme === 'ws:' && !isInsecure && !isLoopback(url.hostname)) {
    throw new UsageError(
      `${url.host} is another machine, and everybody on the way would hear the token: use https, or say --insecure here and at the server`,
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${scheme}//${url.host}${path.endsWith(runnerLinkPath) ? path : `${path}${runnerLinkPath}`}`;
}
