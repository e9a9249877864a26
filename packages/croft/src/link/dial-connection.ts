import {
  RunnerGreeting,
  type RunnerHello,
  type RunnerRefused,
  type RunnerWelcome,
  runnerSubprotocol,
} from '@croft/protocol';
import { type RawData, WebSocket } from 'ws';
import { cutText } from '../lib/text/cut-text.ts';
import { stripControl } from '../lib/text/strip-control.ts';
import { maxMessageBytes } from './limits.ts';
import { isLoopback } from './loopback.ts';
import { createWebSocketWire } from './web-socket-wire.ts';
import type { Wire } from './wire.ts';

export interface Welcomed {
  readonly welcome: RunnerWelcome;
  readonly wire: Wire;
}

export interface ConnectOptions {
  readonly url: string;
  token(): string;
  readonly hello: RunnerHello;
  readonly signal: AbortSignal;
  onWelcome(welcomed: Welcomed): void;
}

/** How a connection ended, or never began. */
export interface Ending {
  readonly reason: string;
  readonly isWelcome: boolean;
  readonly refusal?: RunnerRefused['code'];
}

const handshakeWithinMs = 15_000;

/** One connection, from its beginning to its end. Never rejects. */
export async function connect(options: ConnectOptions): Promise<Ending> {
  const ended = Promise.withResolvers<Ending>();
  try {
    const socket = openSocket(options);
    const ending = greet(socket, options);
    socket.once('close', () => ended.resolve(ending()));
  } catch (thrown) {
    ended.resolve({ reason: toLine(thrown instanceof Error ? thrown.message : String(thrown)), isWelcome: false });
  }
  return ended.promise;
}

function openSocket({ url, token }: ConnectOptions): WebSocket {
  const { protocol, hostname } = new URL(url);
  return new WebSocket(url, [runnerSubprotocol], {
    // Masks keep what is sent from being taken for HTTP by something on the way. Where nothing can be, they only cost.
    ...((protocol === 'wss:' || isLoopback(hostname)) && { generateMask: (mask: Buffer) => void mask.fill(0) }),
    headers: { authorization: `Bearer ${token().trim()}` },
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeWithinMs,
    followRedirects: false,
  });
}

/** Answers what to say of it when it has ended. */
function greet(socket: WebSocket, { hello, signal, onWelcome }: ConnectOptions): () => Ending {
  let ending: Ending = { reason: 'the connection ended', isWelcome: false };
  const timer = setTimeout(() => end({ reason: 'the server did not answer the hello' }), handshakeWithinMs);
  const stop = () => socket.terminate();
  const end = (known: Partial<Ending>) => {
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
    // From here on the link ends it, after its last word.
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

function toRefusal(refused: RunnerRefused | undefined): Partial<Ending> {
  if (!refused) return { reason: 'the server answered the hello with what is no greeting' };
  return { reason: `${refused.code}: ${toLine(refused.message)}`, refusal: refused.code };
}

/** Whoever answered did not let it come as far as a hello. */
function toHttpRefusal(status: number): Partial<Ending> {
  const reason = `the server answered ${status} and not by WebSocket`;
  if (status === 401) return { reason: `AUTH_FAILED: ${reason}`, refusal: 'AUTH_FAILED' };
  return status === 403 ? { reason: `FORBIDDEN: ${reason}`, refusal: 'FORBIDDEN' } : { reason };
}

/** Written by the other side, for the terminal of the operator. */
function toLine(text: string): string {
  return cutText(stripControl(text).replace(/\s+/g, ' '), 500);
}
