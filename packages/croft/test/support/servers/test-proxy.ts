import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { createNetworkJudge } from '../../../src/core/commands/network-judge.ts';
import { NetworkPolicy } from '../../../src/core/commands/network-policy.ts';
import type { ProxyDenial } from '../../../src/lib/net/http-proxy/connection-judge.ts';
import { type ProxyOptions, startProxy } from '../../../src/lib/net/http-proxy/start-proxy.ts';
import { makeDirectory } from '../harness.ts';

/** A server on loopback that stands for the internet and counts what reaches it. */
export async function listenOutside(server: net.Server) {
  const seen = { connections: 0, bytes: 0 };
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => {
    seen.connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    // Counts before anything else reads, including TLS.
    socket.on('data', (chunk: Buffer) => (seen.bytes += chunk.length));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    seen,
    sockets,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const startWeb = (handler: http.RequestListener) => listenOutside(http.createServer(handler));
export const startRaw = (handler: (socket: net.Socket) => void = () => {}) => listenOutside(net.createServer(handler));

/** Makes a self-signed certificate for these names. */
export function makeCertificate(...names: string[]) {
  using directory = makeDirectory();
  const alternatives = names.map((name) => `${net.isIP(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${alternatives}`],
      ...['-keyout', directory.at('key.pem'), '-out', directory.at('cert.pem')],
    ],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(directory.at('key.pem'), 'utf8'), cert: readFileSync(directory.at('cert.pem'), 'utf8') };
}

export const startTlsWeb = (certificate: https.ServerOptions, handler: http.RequestListener) =>
  listenOutside(https.createServer(certificate, handler));

interface TestProxyOptions extends Partial<Omit<ProxyOptions, 'judge' | 'onDenied' | 'socketPath'>> {
  readonly domains?: readonly string[];
  readonly cidrs?: readonly string[];
  /** Answers of DNS by name. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
}

/** Starts a proxy with a real policy. Records every lookup, dial and denial. */
export async function openProxy({ domains = [], cidrs = [], names = {}, ...options }: TestProxyOptions = {}) {
  const directory = makeDirectory();
  const socketPath = directory.at('proxy.sock');
  const denials: ProxyDenial[] = [];
  const lookups: string[] = [];
  const dials: string[] = [];
  const proxy = await startProxy({
    socketPath,
    judge: createNetworkJudge({
      policy: NetworkPolicy.parse({ mode: 'restricted', domains, cidrs }),
      hostAddresses: () => ['198.41.0.4'],
    }),
    onDenied: (denial) => denials.push(denial),
    ...options,
    async resolve(host) {
      lookups.push(host);
      if (options.resolve) return options.resolve(host);
      return names[host] ?? [];
    },
    dial(host, port) {
      dials.push(`${host} ${port}`);
      return options.dial?.(host, port) ?? net.connect({ host, port, allowHalfOpen: true });
    },
  });
  return {
    ...{ socketPath, denials, lookups, dials, close: () => proxy[Symbol.asyncDispose]() },
    connect: () => net.connect(socketPath),
    /** Sends these bytes and reads until the proxy closes. */
    async exchange(bytes: string | Buffer): Promise<string> {
      const socket = net.connect(socketPath);
      socket.on('error', () => {});
      socket.write(bytes);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      await once(socket, 'close');
      return Buffer.concat(chunks).toString('latin1');
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

export type TestProxy = Awaited<ReturnType<typeof openProxy>>;

/** A GET request with usual headers that closes the connection. */
export function get(url: string, headers: readonly string[] = []): string {
  const { host } = new URL(url);
  return [`GET ${url} HTTP/1.1`, `Host: ${host}`, ...headers, 'Connection: close', '', ''].join('\r\n');
}

/** Opens a tunnel and returns its socket once the proxy has accepted. */
export async function openTunnel(proxy: TestProxy, authority: string): Promise<net.Socket> {
  const socket = proxy.connect();
  socket.on('error', () => {});
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (!answer.toString().startsWith('HTTP/1.1 200 ')) throw new Error(answer.toString());
  return socket;
}

export async function readAll(socket: net.Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** Returns the first bytes that OpenSSL sends to this server. */
export async function captureHello(servername?: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  await using trap = await startRaw((socket) => socket.once('data', resolve));
  const client = tls.connect({ host: '127.0.0.1', port: trap.port, ...(servername && { servername }) });
  client.on('error', () => {});
  const bytes = await promise;
  client.destroy();
  return bytes;
}

/** Waits until the condition holds. */
export async function eventually(isTrue: () => boolean, withinMs = 60_000): Promise<void> {
  const until = performance.now() + withinMs;
  while (!isTrue()) {
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
