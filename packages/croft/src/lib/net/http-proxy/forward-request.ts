import { type IncomingMessage, type ServerResponse, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { connectToTarget } from './connect-to-target.ts';
import { dropHopByHopHeaders } from './drop-hop-by-hop-headers.ts';
import { type ProxyContext, refuseWhenSpent, reportWhenSpent } from './proxy-context.ts';
import { type Refusal, sendRefusal, toNetworkFailure } from './proxy-refusal.ts';
import { formatAuthority, type RequestTarget, type Target } from './proxy-target.ts';
import { readRequestTarget } from './read-request-target.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
}

/** A plain HTTP request and its response. */
interface ProxyRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The server for which the client opened the tunnel, if the request came through one. */
  readonly inTunnelTo: Target | undefined;
}

/**
 * Forwards a plain HTTP request: with a full URL, or with a path inside a tunnel. Every request is judged, also on a
 * connection that was allowed before.
 */
export async function forwardRequest(
  { request, response, inTunnelTo }: ProxyRequest,
  context: ProxyContext,
): Promise<void> {
  const target = readRequestTarget(request, inTunnelTo);
  if ('status' in target) return refuse(response, target, context);
  const spent = refuseWhenSpent(target, context);
  if (spent) return refuse(response, spent, context);

  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const reached = await connectToTarget(target, context, gone.signal);
  if ('refusal' in reached) return refuse(response, reached.refusal, context);
  if (gone.signal.aborted) return void reached.socket.destroy();
  forwardTo({ request, response, target }, reached.socket, context);
}

function refuse(response: ServerResponse, refusal: Refusal, { onRefused }: ProxyContext): void {
  onRefused(refusal);
  sendRefusal(response, refusal);
}

function forwardTo(exchange: Exchange, socket: Socket, context: ProxyContext): void {
  const { request, response, target } = exchange;
  const { limits, meter } = context;
  socket.setTimeout(limits.idleTimeoutMs, () => socket.destroy());
  response.once('close', () => socket.destroy());
  const onward = startRequest({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: target.path,
    headers: toOnwardHeaders(request, target),
    setHost: false,
    maxHeaderSize: limits.maxHeaderBytes,
  });
  onward.once('response', (reply) => passBack(reply, exchange, context));
  onward.on('error', () => giveUp(exchange, context));
  // The parser loses bytes that follow an upgrade request in the same packet, so the connection is not reused.
  if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
  if (request.headers.expect !== undefined) response.writeContinue();
  pipeline([request, ...meter.stages(), onward], () => {});
}

/** Answers 502 if the server sent no response that can be passed on. */
function giveUp({ response, target }: Exchange, context: ProxyContext): void {
  if (response.headersSent) return void response.destroy();
  refuse(response, toNetworkFailure(502, `${target.host} broke off without an answer.`), context);
}

function toOnwardHeaders(request: IncomingMessage, target: Target): string[] {
  const passedHeaders = dropHopByHopHeaders(request.rawHeaders);
  const others = passedHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() !== 'host' ? [name, passedHeaders[index + 1] ?? ''] : [],
  );
  return ['Host', formatAuthority(target, 80), ...others, ...toFraming(request), 'Connection', 'close'];
}

/** Returns the header that frames the body, if `Content-Length` does not do so already. */
function toFraming({ method = 'GET', headers }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  if (headers['content-length'] !== undefined || ['GET', 'HEAD'].includes(method)) return [];
  return ['Content-Length', '0'];
}

function passBack(reply: IncomingMessage, exchange: Exchange, context: ProxyContext): void {
  const { response, target } = exchange;
  response.sendDate = false;
  try {
    response.writeHead(reply.statusCode ?? 0, reply.statusMessage, dropHopByHopHeaders(reply.rawHeaders));
    pipeline([reply, ...context.meter.stages(), response], (error) => error && reportWhenSpent(target, context));
  } catch {
    // Node parses responses that it refuses to write, such as status 0 or control characters.
    giveUp(exchange, context);
  }
}
