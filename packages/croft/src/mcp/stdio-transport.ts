import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { createLineCutter } from '../lib/text/message-lines.ts';
import { MalformedLine, readMessage } from './message-line.ts';
import { createOutbox } from './outbox.ts';
import { createOwedAnswers } from './owed-answers.ts';
import { createTurns } from './turns.ts';

export interface StdioTransportOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** A longer message ends the connection: nobody means to send one. */
  readonly maxMessageBytes: number;
  /** Offered each message first. True if it was taken, and will be answered by `send` if it wants an answer. */
  intercept(message: JSONRPCMessage): boolean;
}

/**
 * One JSON message a line over a pair of streams. Many requests at once are taken in turns, answers that are ready
 * together leave in one write, a client that does not read is not read from, and it is known when every request has its
 * answer.
 */
export function createStdioTransport({ stdin, stdout, maxMessageBytes, intercept }: StdioTransportOptions) {
  const owed = createOwedAnswers();
  let onSettled: (() => void) | undefined;
  let isClosed = false;
  const turns = createTurns({ take: accept, onEmpty: () => stdin.resume() });
  const outbox = createOutbox({
    stdout,
    onFull: turns.hold,
    onFlushed: () => owed.isNone() && onSettled?.(),
  });
  const cut = createLineCutter(maxMessageBytes, turns.add, () => {
    transport.onerror?.(new Error(`a message is longer than ${maxMessageBytes} bytes`));
    void close();
  });

  const transport: Transport = { start, send, close };
  return { transport, settled };

  async function start(): Promise<void> {
    stdin.on('data', receive);
    stdin.on('error', (error) => transport.onerror?.(error));
    for (const event of ['end', 'close']) stdin.once(event, () => void close());
    stdout.on('error', () => void close());
    stdout.on('drain', turns.release);
  }

  function receive(chunk: Buffer): void {
    turns.begin();
    cut(chunk);
    if (turns.areBehind()) stdin.pause();
  }

  function accept(line: Buffer): void {
    if (isClosed || line.length <= 1) return;
    try {
      const message = readMessage(line);
      owed.received(message);
      if (!intercept(message)) transport.onmessage?.(message);
    } catch (thrown) {
      if (thrown instanceof MalformedLine) outbox.add(thrown.answer);
      transport.onerror?.(toError(thrown));
    }
  }

  async function send(message: JSONRPCMessage): Promise<void> {
    if (isClosed) return;
    outbox.add(message);
    owed.sent(message);
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    turns.finish();
    outbox.flush();
    isClosed = true;
    stdin.off('data', receive);
    stdin.pause();
    transport.onclose?.();
  }

  /** Resolves when every request was answered and the answers have left, or at the deadline. */
  async function settled(deadlineMs: number): Promise<void> {
    turns.finish();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, deadlineMs);
    onSettled = () => stdout.write('', () => resolve());
    if (owed.isNone() && outbox.isEmpty()) onSettled();
    await promise;
    clearTimeout(timer);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
