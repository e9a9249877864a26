import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Holding } from '../../app/cluster/holding-server.ts';
import { forwardHeader, writeForwardHeader } from './forward-header.ts';
import { serverLost } from './forward-refusal.ts';
import { openRequest } from './send-to-server.ts';
import type { ForwardingCluster } from './serve-where-held.ts';

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that the client has already sent after the request. */
  readonly head: Buffer;
}

/**
 * Forwards a request for a WebSocket, and then every byte in both directions. Throws `E_SERVER_LOST` if there is no
 * answer. When either side ends, so does the other.
 */
export async function forwardUpgrade(
  { forwardKey, now }: Pick<ForwardingCluster, 'forwardKey' | 'now'>,
  { server, epoch }: Extract<Holding, { readonly kind: 'elsewhere' }>,
  { request, socket, head }: Upgrade,
): Promise<void> {
  const [method, path] = [request.method ?? 'GET', request.url ?? '/'];
  const claims = { to: server.id, epoch, method, path, at: now().getTime() };
  const headers = { ...request.headers, [forwardHeader]: writeForwardHeader(forwardKey, claims) };
  const forwarded = openRequest({ address: server.address, method, path, headers, isReachable: () => true });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('close', () => forwarded.destroy());
  forwarded.once('error', ({ message }) => reject(serverLost(server.address, message, false)));
  forwarded.once('upgrade', (answer, other, otherHead) => {
    socket.write(toHead(answer));
    if (otherHead.length > 0) socket.write(otherHead);
    if (head.length > 0) other.write(head);
    join(socket, other);
    resolve();
  });
  forwarded.once('response', (answer) => {
    socket.write(toHead(answer));
    answer.pipe(socket);
    resolve();
  });
  forwarded.end();
  return promise;
}

function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => to.destroy());
  }
}

/** The head as it came, byte for byte but for the version. */
function toHead({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
