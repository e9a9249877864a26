import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ProxyDenial } from './connection-judge.ts';

const lingerMs = 1000;

/** Why a connection is not made. With a `denial` the policy refused it; without one the network failed. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly denial?: ProxyDenial;
}

export function toPolicyRefusal({ host, port, rule, reason }: ProxyDenial, status = 403): Refusal {
  return { status, reason, denial: { host, port, rule, reason } };
}

export function toNetworkFailure(status: 502 | 503 | 504, reason: string): Refusal {
  return { status, reason };
}

export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const body = toText(refusal);
  // The connection stays open, because many programs read no answer before they have sent everything and would only see
  // a broken pipe. It is closed if the end of this request is uncertain.
  const isUnsure = refusal.status === 400 || response.req.headers.expect !== undefined;
  response.writeHead(refusal.status, toPhrase(refusal), {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...(isUnsure && { connection: 'close' }),
  });
  response.end(body);
}

/** Formats the same answer for a raw socket that no HTTP server handles any more. */
export function formatRefusal(refusal: Refusal): string {
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

/** Most programs show only the status line of a refused tunnel, so the reason is in it too. */
function toPhrase({ status, reason, denial }: Refusal): string {
  const phrase = denial
    ? `Blocked by network policy (${denial.rule}): ${reason}`
    : `${STATUS_CODES[status]}: ${reason}`;
  return phrase.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
}

/** Sends `lastWords` and closes. Reads on for a second, so that a client that is still sending receives the answer. */
export function closeWith(socket: Socket, lastWords: string | Buffer): undefined {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(lastWords);
}
