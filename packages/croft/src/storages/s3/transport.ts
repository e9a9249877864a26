import { Agent as HttpAgent, type IncomingMessage, request as requestPlain } from 'node:http';
import { Agent as HttpsAgent, request as requestSecure } from 'node:https';
import { AppError } from '@croft/protocol';
import type { Endpoint } from './endpoint.ts';
import { type Credentials, createSign, encodeKey, toQuery } from './signature.ts';

export interface WireRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** With the prefix. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  readonly endpoint: Endpoint;
  readonly region: string;
  readonly credentials: Credentials;
  readonly connections?: number | undefined;
  readonly connectMs?: number | undefined;
  readonly idleMs?: number | undefined;
}

export type Transport = ReturnType<typeof createTransport>;

const maxKeyBytes = 1024;

/**
 * Signed requests, one try each, redirects followed by nobody. Small requests are most of what a mount does, and the SDK
 * takes three to four times the processor time for one: 1.1 to 1.4 ms for 4 KiB, where these take 0.3 to 0.4 ms.
 */
export function createTransport({ endpoint, region, credentials, ...options }: TransportOptions) {
  const { connections = 64, connectMs = 5000, idleMs = 30_000 } = options;
  const { protocol, hostname, port, host, pathname } = endpoint.bucketUrl;
  const isPlain = protocol === 'http:';
  const pooled = { keepAlive: true, maxSockets: connections, timeout: idleMs, lookup: endpoint.lookup };
  const agent = isPlain ? new HttpAgent(pooled) : new HttpsAgent(pooled);
  const openRequest = isPlain ? requestPlain : requestSecure;
  const sign = createSign(credentials, region);
  const base = pathname.replace(/\/$/, '');

  return {
    agent,
    connectMs,
    idleMs,
    send({ method, key, query = {}, headers = {}, body, signal }: WireRequest): Promise<IncomingMessage> {
      const path = `${base}/${toPath(key)}`;
      const signed = sign({ method, path, query, headers: { ...headers, host }, body }, new Date());
      const length = body === undefined ? {} : { 'content-length': String(body.length) };
      const search = toQuery(query);
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const request = openRequest({
        ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, method, agent, signal },
        ...{ path: search === '' ? path : `${path}?${search}`, headers: { ...signed, ...length } },
      });
      const connecting = setTimeout(() => request.destroy(timedOut('connecting')), connectMs);
      let answer: IncomingMessage | undefined;
      request.once('socket', (socket) => {
        if (!socket.connecting) return clearTimeout(connecting);
        socket.once('connect', () => clearTimeout(connecting));
      });
      request.on('timeout', () => {
        // What was sent and is not taken from us is no fault of theirs.
        if (answer === undefined || answer.readableLength === 0) request.destroy(timedOut('waiting'));
        else request.setTimeout(idleMs);
      });
      request.once('response', (response) => {
        answer = response;
        resolve(response);
      });
      request.once('close', () => clearTimeout(connecting));
      request.once('error', reject);
      request.end(body);
      return promise;
    },
    close: () => agent.destroy(),
  };
}

function timedOut(doing: string): Error {
  return Object.assign(new Error(`timed out while ${doing}`), { code: 'ETIMEDOUT' });
}

function toPath(key: string): string {
  if (!key.isWellFormed()) throw new AppError('E_INVALID_PATH', 'the name is no Unicode, and S3 keeps no others');
  if (Buffer.byteLength(key) > maxKeyBytes) {
    throw new AppError('E_NAME_TOO_LONG', `the path is longer than the ${maxKeyBytes} bytes that S3 keeps`);
  }
  return encodeKey(key);
}
