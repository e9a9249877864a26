import {
  isJsonContentType,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { FastLane, Reply } from '../fast-lane.ts';

/** Longer than almost every call takes, and shorter than clients wait for the first byte of an answer. */
const plainWithinMs = 5000;
const keepAliveMs = 15_000;

const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };

/** The result of a call: its answer, or that the protocol layer has to answer it. */
type Outcome = { readonly message: JSONRPCMessage | undefined; readonly isHandedOver?: true };

/**
 * Answers a request of a 2025 connection on the fast lane. Returns `undefined` if the request is not for the fast lane;
 * the protocol layer then also refuses invalid requests, in its own words.
 */
export function answerOnFastLane(
  lane: FastLane,
  request: Request,
  body: unknown,
  handOver: () => Promise<Response>,
): Promise<Response> | undefined {
  if (!isMessage(body) || !isAsAgreed(request.headers) || isOfLaterEra(body)) return undefined;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const notes = createNotes();
  const reply: Reply = {
    send: (message) => resolve({ message }),
    notify: notes.add,
    handOver: (message) => resolve({ message, isHandedOver: true }),
  };
  if (!lane.take(body, reply)) return undefined;
  if (!('id' in body) || body.id === undefined) return Promise.resolve(nothing());
  const { id } = body;
  // A client that disconnects cancels its call.
  request.signal.addEventListener('abort', () => lane.cancel(id), { once: true });
  return respond({ outcome: promise, notes }, handOver);
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

/** The notifications that the client gets before the answer. */
type Notes = ReturnType<typeof createNotes>;

interface Answering {
  readonly outcome: Promise<Outcome>;
  readonly notes: Notes;
}

/** Keeps notifications until there is a stream to send them on. */
function createNotes() {
  const waiting: JSONRPCMessage[] = [];
  const { promise: first, resolve } = Promise.withResolvers<'late'>();
  let send: ((message: JSONRPCMessage) => void) | undefined;
  return {
    /** Resolves at the first notification, which needs a stream. */
    first,
    add(message: JSONRPCMessage): void {
      if (send) send(message);
      else waiting.push(message);
      resolve('late');
    },
    sendOn(stream: (message: JSONRPCMessage) => void): void {
      send = stream;
      waiting.splice(0).forEach(stream);
    },
  };
}

/**
 * Answers as JSON if the call ends soon and has no notifications. Otherwise answers with a stream that is kept alive.
 */
async function respond(answering: Answering, handOver: () => Promise<Response>): Promise<Response> {
  const { outcome, notes } = answering;
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(resolve, plainWithinMs, 'late');
  const first = await Promise.race([outcome, late, notes.first]);
  clearTimeout(timer);
  if (first === 'late') return new Response(toStream(answering), { headers: streamHeaders });
  if (first.isHandedOver) return handOver();
  return first.message ? Response.json(first.message) : nothing();
}

function nothing(): Response {
  return new Response(null, { status: 202 });
}

function toStream({ outcome, notes }: Answering): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    async start(controller) {
      const write = (text: string) => controller.enqueue(encoder.encode(text));
      const send = (message: JSONRPCMessage) => write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      timer = setInterval(write, keepAliveMs, ': keepalive\n\n');
      notes.sendOn(send);
      const { message } = await outcome;
      clearInterval(timer);
      notes.sendOn(() => {});
      if (message) send(message);
      controller.close();
    },
    cancel() {
      clearInterval(timer);
      notes.sendOn(() => {});
    },
  });
}
