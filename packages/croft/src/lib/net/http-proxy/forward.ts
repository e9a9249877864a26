import { type IncomingMessage, type ServerResponse, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type ProxyContext, refuseWhenSpent, tellWhenSpent } from './context.ts';
import { dropHopByHop } from './headers.ts';
import { reach } from './reach.ts';
import { answer, fail, type Refusal } from './refusal.ts';
import { readTarget } from './request-form.ts';
import { formatAuthority, type RequestTarget, type Target } from './target.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
}

/** A request and the answer to it. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The server at the end of the tunnel that the request came through. */
  readonly inTunnelTo: Target | undefined;
}

/**
 * Carries out a plain HTTP request, for a whole URL or, in a tunnel, for a path. Each one is judged, whatever came
 * before it.
 */
export async function forward({ request, response, inTunnelTo }: Call, context: ProxyContext): Promise<void> {
  const target = readTarget(request, inTunnelTo);
  if ('status' in target) return refuse(response, target, context);
  const spent = refuseWhenSpent(target, context);
  if (spent) return refuse(response, spent, context);

  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const reached = await reach(target, context, gone.signal);
  if ('refusal' in reached) return refuse(response, reached.refusal, context);
  if (gone.signal.aborted) return void reached.socket.destroy();
  carry({ request, response, target }, reached.socket, context);
}

function refuse(response: ServerResponse, refusal: Refusal, { onRefused }: ProxyContext): void {
  onRefused(refusal);
  answer(response, refusal);
}

function carry(exchange: Exchange, socket: Socket, context: ProxyContext): void {
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
  // What follows a request for an upgrade in the same packet is lost to the parser.
  if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
  if (request.headers.expect !== undefined) response.writeContinue();
  pipeline([request, ...meter.stages(), onward], () => {});
}

/** For a server that has not answered in a way that can be passed on. */
function giveUp({ response, target }: Exchange, context: ProxyContext): void {
  if (response.headersSent) return void response.destroy();
  refuse(response, fail(502, `${target.host} broke off without an answer.`), context);
}

function toOnwardHeaders(request: IncomingMessage, target: Target): string[] {
  const kept = dropHopByHop(request.rawHeaders);
  const others = kept.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() !== 'host' ? [name, kept[index + 1] ?? ''] : [],
  );
  return ['Host', formatAuthority(target, 80), ...others, ...toFraming(request), 'Connection', 'close'];
}

/** How long the body is, where a `Content-Length` does not say it already. */
function toFraming({ method = 'GET', headers }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  if (headers['content-length'] !== undefined || ['GET', 'HEAD'].includes(method)) return [];
  return ['Content-Length', '0'];
}

function passBack(reply: IncomingMessage, exchange: Exchange, context: ProxyContext): void {
  const { response, target } = exchange;
  response.sendDate = false;
  try {
    response.writeHead(reply.statusCode ?? 0, reply.statusMessage, dropHopByHop(reply.rawHeaders));
    pipeline([reply, ...context.meter.stages(), response], (error) => error && tellWhenSpent(target, context));
  } catch {
    // What Node reads of an answer is more than it is willing to write: status 0, control characters.
    giveUp(exchange, context);
  }
}
