import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { RunningProgram } from '../core/commands/sandbox.ts';
import { createByteLineSplitter } from '../lib/text/lines/byte-line-splitter.ts';
import type { JsonRecord } from './clean-json.ts';
import { createMessageFilter } from './message-filter.ts';

interface RunningTransportOptions {
  /** Called with what the server did against the protocol, before the connection is closed. */
  onFault(what: string): void;
}

const maxMessageBytes = 4 * 1024 * 1024;
/** Limit on sent bytes that the server has not read. Cancelled calls stay in the queue and count. */
const maxWaitingBytes = 32 * 1024 * 1024;
const maxIdLength = 200;
const methodNotFound = -32601;

/**
 * Exchanges one JSON message a line with a program that may send anything. A message that is too long ends the
 * connection while it arrives, unrequested messages are counted, and requests to Croft are refused. Writes keep their
 * order, and each is done when the program has taken it.
 */
export function createJsonLinesTransport(
  { stdin, stdout }: Pick<RunningProgram, 'stdin' | 'stdout'>,
  { onFault }: RunningTransportOptions,
): Transport {
  const awaited = new Set<unknown>();
  let isClosed = false;
  const take = createMessageFilter({
    isAwaited: (id) => awaited.delete(id),
    onMessage: (message) => transport.onmessage?.(message),
    onRequest: (request) => refuse(stdin, request),
    onFlood: () => fail('it sent too many messages that nobody asked for'),
  });
  const onLine = (line: Buffer) => {
    if (!isClosed && line.length > 1) take(line);
  };
  const onTooLong = () => fail(`it sent more than ${maxMessageBytes} bytes as one message`);
  const cut = createByteLineSplitter(maxMessageBytes, onLine, onTooLong);
  const transport: Transport = { start, send, close };
  return transport;

  async function start(): Promise<void> {
    stdout.on('data', cut);
    for (const event of ['end', 'close', 'error']) stdout.once(event, () => void close());
    stdin.on('error', () => void close());
  }

  async function send(message: JSONRPCMessage): Promise<void> {
    if (isClosed) throw new Error('the connection is closed');
    if ('method' in message && 'id' in message) awaited.add(message.id);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    write(stdin, message, (failure) => (failure ? reject(failure) : resolve()));
    return promise;
  }

  function fail(what: string): void {
    if (isClosed) return;
    onFault(what);
    void close();
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    stdout.off('data', cut);
    // Reads and discards what the program still prints: a program whose output is not read may never exit.
    stdout.resume();
    stdin.end();
    transport.onclose?.();
  }
}

/** Refuses sampling, elicitation and roots: a server inside the sandbox gets nothing from outside of it. */
function refuse(stdin: Writable, { id, method }: JsonRecord): void {
  const isId = typeof id === 'number' || (typeof id === 'string' && id.length <= maxIdLength);
  // A server that does not read its answers gets no more of them.
  if (!isId || stdin.writableNeedDrain) return;
  const error = { code: methodNotFound, message: 'a server in a sandbox may not ask for this' };
  write(stdin, { jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error }) }, () => {});
}

function write(stdin: Writable, message: object, onTaken: (failure?: Error | null) => void): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  const waiting = stdin.writableLength;
  if (waiting + line.length <= maxWaitingBytes) stdin.write(line, onTaken);
  else onTaken(new Error(`the server has not read ${waiting} bytes that were sent to it before`));
}
