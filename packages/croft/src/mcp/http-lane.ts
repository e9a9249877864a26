import {
  isJsonContentType,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { FastLane } from './fast-lane.ts';

/** Longer than almost every call takes, shorter than anybody waits for the beginning of an answer. */
const plainWithinMs = 5000;
const keepAliveMs = 15_000;

const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };

/**
 * The answer to a request that a connection of 2025 sent, if it is for the fast lane. What is not as the protocol layer
 * wants it is left to that, to be refused in its words.
 */
export function takeByHttp(lane: FastLane, request: Request, body: unknown): Promise<Response> | undefined {
  if (!isMessage(body) || !isAsAgreed(request.headers) || isOfLaterEra(body)) return undefined;
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage | undefined>();
  if (!lane.take(body, resolve)) return undefined;
  if (!('id' in body) || body.id === undefined) return Promise.resolve(nothing());
  const { id } = body;
  // A client that goes away takes back what it asked for.
  request.signal.addEventListener('abort', () => lane.cancel(id), { once: true });
  return respond(promise);
}

function isMessage(body: unknown): body is JSONRPCMessage {
  return typeof body === 'object' && body !== null && 'jsonrpc' in body && body.jsonrpc === '2.0';
}

function isAsAgreed(headers: Headers): boolean {
  const accept = headers.get('accept') ?? '';
  const version = headers.get('mcp-protocol-version');
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    isJsonContentType(headers.get('content-type')) &&
    (version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version))
  );
}

function isOfLaterEra(message: JSONRPCMessage): boolean {
  const meta = 'params' in message ? message.params?._meta : undefined;
  return meta !== undefined && (typeof meta !== 'object' || meta === null || PROTOCOL_VERSION_META_KEY in meta);
}

/** As JSON what is there soon; for the rest there is a stream, on which a client sees that it has not been forgotten. */
async function respond(answer: Promise<JSONRPCMessage | undefined>): Promise<Response> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(resolve, plainWithinMs, 'late');
  const first = await Promise.race([answer, late]);
  clearTimeout(timer);
  if (first === 'late') return new Response(toStream(answer), { headers: streamHeaders });
  return first ? Response.json(first) : nothing();
}

function nothing(): Response {
  return new Response(null, { status: 202 });
}

function toStream(answer: Promise<JSONRPCMessage | undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    async start(controller) {
      timer = setInterval(() => controller.enqueue(encoder.encode(': keepalive\n\n')), keepAliveMs);
      const message = await answer;
      clearInterval(timer);
      if (message) controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
      controller.close();
    },
    cancel: () => clearInterval(timer),
  });
}
