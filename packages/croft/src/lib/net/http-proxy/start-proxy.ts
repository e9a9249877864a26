import { once } from 'node:events';
import { chmod, chown } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ProxyContext } from './context.ts';
import { forward } from './forward.ts';
import type { Denial, Judge } from './judge.ts';
import { defaultLimits, type ProxyLimits } from './limits.ts';
import { createMeter } from './meter.ts';
import type { Dial } from './reach.ts';
import { closeWith, deny, formatAnswer } from './refusal.ts';
import { createResolve, type Resolve } from './resolve.ts';
import { createSlots } from './slots.ts';
import { nowhere, type Target } from './target.ts';
import { tunnel } from './tunnel.ts';

const keepAliveMs = 5000;

export interface ProxyOptions {
  /** A UNIX socket, made here and removed at the end. At most 107 bytes, as every such path. */
  readonly socketPath: string;
  /** Who may connect to the socket, when not this process's own user. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  readonly judge: Judge;
  /** Called for every connection that is refused, as often as a program tries. */
  onDenied(denial: Denial): void;
  readonly resolve?: Resolve;
  readonly dial?: Dial;
  readonly limits?: Partial<ProxyLimits>;
}

/**
 * An HTTP/1.1 proxy for one sandbox: plain requests and TLS by CONNECT, each to a host and an address that `judge`
 * allows, and nothing else. Ending it ends every connection through it.
 */
export async function startProxy(options: ProxyOptions): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createProxyServer(toContext(options));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The HTTP server lets go of a socket that becomes a tunnel; an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
  });
  await listen(server, options);
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function toContext({ judge, onDenied, limits: given, ...options }: ProxyOptions): ProxyContext {
  const limits = { ...defaultLimits, ...given };
  return {
    judge,
    limits,
    slots: createSlots(limits.maxConnections),
    meter: createMeter(limits.maxTotalBytes),
    resolve: options.resolve ?? createResolve(limits.connectTimeoutMs),
    dial: options.dial ?? ((host, port) => connect({ host, port, allowHalfOpen: true })),
    onRefused: ({ denial }) => denial && onDenied(denial),
  };
}

function createProxyServer(context: ProxyContext): Server {
  const { maxConnections, maxHeaderBytes, helloTimeoutMs, idleTimeoutMs } = context.limits;
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: helloTimeoutMs,
    // A long upload is not a slow one: idleness is what ends a connection.
    requestTimeout: 0,
    // Programs that keep more connections than there are would wait for those that they do not use themselves.
    keepAliveTimeout: Math.min(idleTimeoutMs, keepAliveMs),
    insecureHTTPParser: false,
  });
  server.maxConnections = maxConnections;
  server.setTimeout(idleTimeoutMs);
  answerRequests(server, context);
  return server;
}

function answerRequests(server: Server, context: ProxyContext): void {
  const openCalls = new WeakMap<Socket, number>();
  const tunnels = new WeakMap<Socket, Target>();
  const count = (socket: Socket, change: number) => openCalls.set(socket, (openCalls.get(socket) ?? 0) + change);
  for (const event of ['request', 'checkContinue']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      count(socket, 1);
      response.once('close', () => count(socket, -1));
      forward({ request, response, inTunnelTo: tunnels.get(socket) }, context).catch(() => response.destroy());
    });
  }
  server.on('connect', async (request, socket: Socket, head) => {
    if (tunnels.has(socket)) return socket.destroy();
    const plain = await tunnel(request, socket, head, context).catch(() => void socket.destroy());
    if (!plain) return;
    tunnels.set(socket, plain);
    server.emit('connection', socket);
    socket.resume();
  });
  server.on('clientError', (error, socket: Socket) => {
    // In the middle of an answer there is no place for another.
    if (openCalls.get(socket)) socket.destroySoon();
    else refuseUnreadable(error, { socket, target: tunnels.get(socket) ?? nowhere }, context);
  });
}

/** Two lengths of one body, a line that is no header, a header without end: what lets two readers see two requests. */
function refuseUnreadable(
  error: NodeJS.ErrnoException,
  { socket, target }: { socket: Socket; target: Target },
  { onRefused }: ProxyContext,
): void {
  if (!error.code?.startsWith('HPE_') || !socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const reason = `This is not an HTTP/1.1 request that a proxy can pass on. ${error.message}.`;
  const refusal = deny({ ...target, rule: 'request-form', reason }, status);
  onRefused(refusal);
  closeWith(socket, formatAnswer(refusal));
}

async function listen(server: Server, { socketPath, owner }: ProxyOptions): Promise<void> {
  server.listen(socketPath);
  await once(server, 'listening');
  try {
    await chmod(socketPath, 0o600);
    if (owner) await chown(socketPath, owner.uid, owner.gid);
  } catch (thrown) {
    server.close();
    throw thrown;
  }
}
