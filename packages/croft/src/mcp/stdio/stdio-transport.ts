import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { createByteLineSplitter } from '../../lib/text/lines/byte-line-splitter.ts';
import { MalformedLine, readMessage } from './message-line.ts';
import { createMessagePacer } from './message-pacer.ts';
import { createPendingRequests } from './pending-requests.ts';
import { createStdoutQueue } from './stdout-queue.ts';

interface StdioTransportOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** A longer message ends the connection: no client means to send one. */
  readonly maxMessageBytes: number;
  /** Called first for each message. Returns true if it took the message, and then answers through `send`. */
  intercept(message: JSONRPCMessage): boolean;
}

/**
 * Exchanges one JSON message a line over a pair of streams. Requests that arrive together are handled in turns, answers
 * that are ready together leave in one write, and a client that does not read is not read from. The transport knows
 * when every request has its answer.
 */
export function createStdioTransport({ stdin, stdout, maxMessageBytes, intercept }: StdioTransportOptions) {
  const pending = createPendingRequests();
  let onAllAnswered: (() => void) | undefined;
  let isClosed = false;
  const turns = createMessagePacer({ take: accept, onEmpty: () => stdin.resume() });
  const stdoutQueue = createStdoutQueue({
    stdout,
    onFull: turns.hold,
    onFlushed: () => pending.isNone() && onAllAnswered?.(),
  });
  const cut = createByteLineSplitter(maxMessageBytes, turns.add, () => {
    transport.onerror?.(new Error(`a message is longer than ${maxMessageBytes} bytes`));
    void close();
  });

  const transport: Transport = { start, send, close };
  return { transport, settled: allAnswered, answered: stdoutQueue.flushed };

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
      pending.received(message);
      if (!intercept(message)) transport.onmessage?.(message);
    } catch (thrown) {
      if (thrown instanceof MalformedLine) stdoutQueue.add(thrown.answer);
      transport.onerror?.(toError(thrown));
    }
  }

  async function send(message: JSONRPCMessage): Promise<void> {
    if (isClosed) return;
    stdoutQueue.add(message);
    pending.sent(message);
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    turns.finish();
    stdoutQueue.flush();
    isClosed = true;
    stdin.off('data', receive);
    stdin.pause();
    transport.onclose?.();
  }

  /** Resolves when every request was answered and the answers were written, or at the deadline. */
  async function allAnswered(deadlineMs: number): Promise<void> {
    turns.finish();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, deadlineMs);
    onAllAnswered = () => stdout.write('', () => resolve());
    if (pending.isNone() && stdoutQueue.isEmpty()) onAllAnswered();
    await promise;
    clearTimeout(timer);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
