import {
  RunnerGreeting,
  type RunnerHello,
  type RunnerRefused,
  type RunnerWelcome,
  runnerSubprotocol,
} from '@croft/protocol';
import { type RawData, WebSocket } from 'ws';
import { errorMessage } from '../../lib/error-message.ts';
import { cutText } from '../../lib/text/cut-text.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { isLoopback } from '../transport/is-loopback.ts';
import { maxMessageBytes } from '../transport/link-limits.ts';
import type { LinkWire } from '../transport/link-wire.ts';
import { createWebSocketWire } from '../transport/web-socket-wire.ts';

export interface WelcomedConnection {
  readonly welcome: RunnerWelcome;
  readonly wire: LinkWire;
}

interface ConnectOptions {
  readonly url: string;
  token(): string;
  readonly hello: RunnerHello;
  readonly signal: AbortSignal;
  onWelcome(welcomed: WelcomedConnection): void;
}

/** How a connection ended, or why it never began. */
export interface ConnectionEnd {
  readonly reason: string;
  readonly isWelcome: boolean;
  readonly refusal?: RunnerRefused['code'];
}

const handshakeWithinMs = 15_000;

/** Makes one connection and resolves when it ends. Never rejects. */
export async function connectOnce(options: ConnectOptions): Promise<ConnectionEnd> {
  const ended = Promise.withResolvers<ConnectionEnd>();
  try {
    const socket = openSocket(options);
    const ending = greet(socket, options);
    socket.once('close', () => ended.resolve(ending()));
  } catch (thrown) {
    ended.resolve({ reason: toLine(errorMessage(thrown)), isWelcome: false });
  }
  return ended.promise;
}

function openSocket({ url, token }: ConnectOptions): WebSocket {
  const { protocol, hostname } = new URL(url);
  return new WebSocket(url, [runnerSubprotocol], {
    // Masking protects against proxies that take frames for HTTP. Over TLS or loopback there is no such proxy, and a
    // mask of zeros saves time.
    ...((protocol === 'wss:' || isLoopback(hostname)) && { generateMask: (mask: Buffer) => void mask.fill(0) }),
    headers: { authorization: `Bearer ${token().trim()}` },
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeWithinMs,
    followRedirects: false,
  });
}

/** Sends the hello and waits for the greeting. Returns a function that tells how the connection ended. */
function greet(socket: WebSocket, { hello, signal, onWelcome }: ConnectOptions): () => ConnectionEnd {
  let ending: ConnectionEnd = { reason: 'the connection ended', isWelcome: false };
  const timer = setTimeout(() => end({ reason: 'the server did not answer the hello' }), handshakeWithinMs);
  const stop = () => socket.terminate();
  const end = (known: Partial<ConnectionEnd>) => {
    ending = { ...ending, ...known };
    socket.terminate();
  };
  signal.addEventListener('abort', stop, { once: true });
  socket.on('error', ({ message }) => {
    ending = { ...ending, reason: toLine(message) };
  });
  socket.once('open', () => socket.send(JSON.stringify(hello)));
  socket.once('message', (data, isBinary) => {
    clearTimeout(timer);
    const greeting = parseGreeting(data, isBinary);
    if (greeting?.type !== 'welcome') return end(toRefusal(greeting));
    // The link ends the connection after this, so that its close frame is still sent.
    signal.removeEventListener('abort', stop);
    ending = { ...ending, isWelcome: true };
    const onDrop = (reason: string) => {
      ending = { ...ending, reason };
    };
    onWelcome({ welcome: greeting, wire: createWebSocketWire(socket, { ...greeting, onDrop }) });
  });
  socket.once('unexpected-response', (_request, { statusCode = 0 }) => end(toHttpRefusal(statusCode)));
  socket.once('close', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
  return () => ending;
}

function parseGreeting(data: RawData, isBinary: boolean): RunnerGreeting | undefined {
  if (isBinary) return undefined;
  try {
    return RunnerGreeting.parse(JSON.parse(data.toString()));
  } catch {
    return undefined;
  }
}

function toRefusal(refused: RunnerRefused | undefined): Partial<ConnectionEnd> {
  if (!refused) return { reason: 'the server answered the hello with something that is not a greeting' };
  return { reason: `${refused.code}: ${toLine(refused.message)}`, refusal: refused.code };
}

/** The HTTP server or a proxy refused the upgrade, before any hello. */
function toHttpRefusal(status: number): Partial<ConnectionEnd> {
  const reason = `the server answered ${status} and not by WebSocket`;
  if (status === 401) return { reason: `AUTH_FAILED: ${reason}`, refusal: 'AUTH_FAILED' };
  return status === 403 ? { reason: `FORBIDDEN: ${reason}`, refusal: 'FORBIDDEN' } : { reason };
}

/** Cleans a text that the other side wrote, to be printed on the operator's terminal. */
function toLine(text: string): string {
  return cutText(stripControlSequences(text).replace(/\s+/g, ' '), 500);
}
