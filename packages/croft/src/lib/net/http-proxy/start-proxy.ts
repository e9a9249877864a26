import { once } from 'node:events';
import { chmod, chown } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createByteMeter } from './byte-meter.ts';
import type { Dial } from './connect-to-target.ts';
import type { ConnectionJudge, ProxyDenial } from './connection-judge.ts';
import { createConnectionSlots } from './connection-slots.ts';
import { forwardRequest } from './forward-request.ts';
import { openTunnel } from './open-tunnel.ts';
import type { ProxyContext } from './proxy-context.ts';
import { defaultProxyLimits, type ProxyLimits } from './proxy-limits.ts';
import { closeWith, formatRefusal, toPolicyRefusal } from './proxy-refusal.ts';
import { type Target, unknownTarget } from './proxy-target.ts';
import { createHostResolver, type ResolveHost } from './resolve-host.ts';

const keepAliveMs = 5000;

export interface ProxyOptions {
  /** Path of the UNIX socket, created here and removed at the end. At most 107 bytes, as for every UNIX socket. */
  readonly socketPath: string;
  /** User who may connect to the socket, if it is not the user of this process. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  readonly judge: ConnectionJudge;
  /** Called for every refused connection, each time a program tries. */
  onDenied(denial: ProxyDenial): void;
  readonly resolve?: ResolveHost;
  readonly dial?: Dial;
  readonly limits?: Partial<ProxyLimits>;
}

/**
 * Starts the HTTP/1.1 proxy of one sandbox: plain requests and TLS by CONNECT, each to a host and an address that
 * `judge` allows, and nothing else. Disposing it ends every connection through it.
 */
export async function startProxy(options: ProxyOptions): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createProxyServer(toContext(options));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The HTTP server gives up a socket that becomes a tunnel; an error without a listener would end the process.
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
  const limits = { ...defaultProxyLimits, ...given };
  return {
    judge,
    limits,
    slots: createConnectionSlots(limits.maxConnections),
    meter: createByteMeter(limits.maxTotalBytes),
    resolve: options.resolve ?? createHostResolver(limits.connectTimeoutMs),
    dial: options.dial ?? ((host, port) => connect({ host, port, allowHalfOpen: true })),
    onRefused: ({ denial }) => denial && onDenied(denial),
  };
}

function createProxyServer(context: ProxyContext): Server {
  const { maxConnections, maxHeaderBytes, helloTimeoutMs, idleTimeoutMs } = context.limits;
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: helloTimeoutMs,
    // No time limit for a whole request, because an upload may be long. The idle timeout ends dead connections.
    requestTimeout: 0,
    // A short keep-alive, so that idle connections of one program do not block others at the connection limit.
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
      forwardRequest({ request, response, inTunnelTo: tunnels.get(socket) }, context).catch(() => response.destroy());
    });
  }
  server.on('connect', async (request, socket: Socket, head) => {
    if (tunnels.has(socket)) return socket.destroy();
    const plain = await openTunnel(request, socket, head, context).catch(() => void socket.destroy());
    if (!plain) return;
    tunnels.set(socket, plain);
    server.emit('connection', socket);
    socket.resume();
  });
  server.on('clientError', (error, socket: Socket) => {
    // While a response is being sent, no second one can be.
    if (openCalls.get(socket)) socket.destroySoon();
    else refuseUnreadable(error, { socket, target: tunnels.get(socket) ?? unknownTarget }, context);
  });
}

/**
 * Refuses a request that two parsers could read differently: two body lengths, a malformed header line, an endless
 * header.
 */
function refuseUnreadable(
  error: NodeJS.ErrnoException,
  { socket, target }: { socket: Socket; target: Target },
  { onRefused }: ProxyContext,
): void {
  if (!error.code?.startsWith('HPE_') || !socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const reason = `This is not an HTTP/1.1 request that a proxy can pass on. ${error.message}.`;
  const refusal = toPolicyRefusal({ ...target, rule: 'request-form', reason }, status);
  onRefused(refusal);
  closeWith(socket, formatRefusal(refusal));
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
