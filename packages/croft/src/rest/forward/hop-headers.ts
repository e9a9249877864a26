import type { IncomingHttpHeaders } from 'node:http';

/** Headers of one connection, and not of a request. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
]);

export function withoutHopHeaders(
  headers: IncomingHttpHeaders,
): Record<string, string | readonly string[] | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
}
