import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import type { Readable } from 'node:stream';

/** Shorter than servers keep idle connections, so that none is used that the other side is just closing. */
const idleMs = 30_000;
const connectMs = 3000;
const watchMs = 500;
const maxConnections = 1024;

const settings = { keepAlive: true, maxSockets: maxConnections, maxFreeSockets: 64, timeout: idleMs };
const agents = { 'http:': new Agent(settings), 'https:': new SecureAgent(settings) } as const;

export interface SentRequest {
  /** The URL at which the server listens, such as `http://10.0.0.5:7070`. */
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: Buffer | Readable | undefined;
  /** Whether the server still beats. Asked while there is no answer. */
  isReachable(): boolean;
}

/** `not-sent`: nothing reached the server. `lost`: nobody knows what the server did. */
export type SendOutcome =
  | { readonly kind: 'answered'; readonly response: IncomingMessage; readonly request: ClientRequest }
  | { readonly kind: 'not-sent' | 'lost'; readonly reason: string };

/** Sends a request to another server, and waits for the head of the answer as long as that server beats. */
export function sendToServer(sent: SentRequest): Promise<SendOutcome> {
  const { promise, resolve } = Promise.withResolvers<SendOutcome>();
  const request = openRequest(sent);
  let isConnected = false;
  request.once('socket', (socket) => {
    if (!socket.connecting) isConnected = true;
    else socket.once('connect', () => (isConnected = true));
  });
  const startedAt = performance.now();
  const timer = setInterval(() => {
    if (!isConnected && performance.now() - startedAt > connectMs)
      request.destroy(new Error('it did not answer in time'));
    if (isConnected && !sent.isReachable()) request.destroy(new Error('it has stopped beating'));
  }, watchMs);
  const finish = (outcome: SendOutcome) => {
    clearInterval(timer);
    resolve(outcome);
  };
  request.once('response', (response) => finish({ kind: 'answered', response, request }));
  // Stays after the answer has begun, when the reader of the answer sees the failure.
  request.on('error', ({ message }) => finish({ kind: isConnected ? 'lost' : 'not-sent', reason: message }));
  writeBody(request, sent.body);
  return promise;
}

/** Also for upgrades, whose answer is an event of its own. */
export function openRequest({ address, method, path, headers }: SentRequest): ClientRequest {
  const { protocol, hostname, port } = new URL(address);
  const kind = protocol === 'https:' ? 'https:' : 'http:';
  const open = kind === 'https:' ? requestHttps : requestHttp;
  const host = hostname.replace(/^\[|\]$/g, '');
  return open({ agent: agents[kind], host, port, method, path, headers: headers as Record<string, string> });
}

function writeBody(request: ClientRequest, body: SentRequest['body']): void {
  if (body === undefined || Buffer.isBuffer(body)) {
    request.end(body);
    return;
  }
  body.once('error', (thrown) => request.destroy(thrown));
  body.pipe(request);
}
