import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Running } from '../core/commands/sandbox.ts';
import { createLineCutter } from '../lib/text/message-lines.ts';
import type { JsonObject } from './clean.ts';
import { createIncoming } from './incoming.ts';

export interface RunningTransportOptions {
  /** Told what the other side did that no server does; the connection is closed then. */
  onFault(what: string): void;
}

const maxMessageBytes = 4 * 1024 * 1024;
/** Of what was sent and is not yet taken. Calls that nobody waits for any more stay in line. */
const maxWaitingBytes = 32 * 1024 * 1024;
const maxIdLength = 200;
const methodNotFound = -32601;

/**
 * One JSON message a line, with a program that may send whatever it likes: what is too long ends the connection while it
 * comes, what nobody asked for is counted, and what asks us for something is refused. Writes keep their order and are done
 * when the program has taken them.
 */
export function createRunningTransport(
  { stdin, stdout }: Pick<Running, 'stdin' | 'stdout'>,
  { onFault }: RunningTransportOptions,
): Transport {
  const awaited = new Set<unknown>();
  let isClosed = false;
  const take = createIncoming({
    isAwaited: (id) => awaited.delete(id),
    onMessage: (message) => transport.onmessage?.(message),
    onRequest: (request) => refuse(stdin, request),
    onFlood: () => fail('it sent more messages that nobody asked for than are taken'),
  });
  const onLine = (line: Buffer) => {
    if (!isClosed && line.length > 1) take(line);
  };
  const onTooLong = () => fail(`it sent more than ${maxMessageBytes} bytes as one message`);
  const cut = createLineCutter(maxMessageBytes, onLine, onTooLong);
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
    // What it still prints is read and thrown away: nobody learns how a program ended whose output waits.
    stdout.resume();
    stdin.end();
    transport.onclose?.();
  }
}

/** Sampling, elicitation, roots: what is inside the fence has no claim on what is outside. */
function refuse(stdin: Writable, { id, method }: JsonObject): void {
  const isId = typeof id === 'number' || (typeof id === 'string' && id.length <= maxIdLength);
  // One that asks and does not read the answers gets none.
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
