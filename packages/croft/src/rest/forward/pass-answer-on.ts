import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { withoutHopHeaders } from './hop-headers.ts';
import type { SendOutcome } from './send-to-server.ts';

/**
 * Tells the Node adapter that the answer is written already. Made before the adapter replaces the global `Response`, whose
 * own kind it would write.
 */
const alreadySent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });

type Answered = Extract<SendOutcome, { readonly kind: 'answered' }>;

/** Passes the answer of another server on as it comes, byte by byte. If that server dies, the client's connection ends. */
export function passAnswerOn({ response, request }: Answered, outgoing: ServerResponse): Response {
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) request.destroy();
  });
  outgoing.writeHead(response.statusCode ?? 502, withoutHopHeaders(response.headers) as Record<string, string>);
  // The head of an endless stream must not wait for its first byte.
  if (response.headers['content-length'] === undefined) outgoing.flushHeaders();
  pipeline(response, outgoing).catch(() => outgoing.destroy());
  return alreadySent;
}
