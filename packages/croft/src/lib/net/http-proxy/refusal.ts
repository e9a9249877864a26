import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Denial } from './judge.ts';

const lingerMs = 1000;

/** Why a connection is not made. With a `denial` it is the policy's doing, without one the network's. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly denial?: Denial;
}

export function deny({ host, port, rule, reason }: Denial, status = 403): Refusal {
  return { status, reason, denial: { host, port, rule, reason } };
}

export function fail(status: 502 | 503 | 504, reason: string): Refusal {
  return { status, reason };
}

export function answer(response: ServerResponse, refusal: Refusal): void {
  const body = toText(refusal);
  // The connection stays: many programs read no answer before they have sent all, and would only see a broken pipe.
  // Unless it is not sure where this request ends and the next begins.
  const isUnsure = refusal.status === 400 || response.req.headers.expect !== undefined;
  response.writeHead(refusal.status, toPhrase(refusal), {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...(isUnsure && { connection: 'close' }),
  });
  response.end(body);
}

/** The same answer for a socket that no HTTP server looks after any more. */
export function formatAnswer(refusal: Refusal): string {
  const body = toText(refusal);
  const head = [
    `HTTP/1.1 ${refusal.status} ${toPhrase(refusal)}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function toText({ reason, denial }: Refusal): string {
  const rule = denial ? ` (rule: ${denial.rule})` : '';
  return `${denial ? 'Blocked by the network policy of this sandbox' : 'The network failed'}${rule}.\n${reason}\n`;
}

/** Most programs show nothing else of a refused tunnel, so the reason goes here too. */
function toPhrase({ status, reason, denial }: Refusal): string {
  const phrase = denial
    ? `Blocked by network policy (${denial.rule}): ${reason}`
    : `${STATUS_CODES[status]}: ${reason}`;
  return phrase.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
}

/** Says this and closes. Goes on listening for a moment, so that a peer in the middle of a sentence hears it. */
export function closeWith(socket: Socket, lastWords: string | Buffer): undefined {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(lastWords);
}
