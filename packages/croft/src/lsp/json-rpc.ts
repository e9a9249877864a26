import type { RunningProgram } from '../core/commands/sandbox.ts';
import { parseJson } from '../lib/text/parse-json.ts';
import { createFrameReader, toFrame } from './frame-reader.ts';
import { RequestTimeoutError, ResponseError, ServerGoneError } from './server-errors.ts';

interface JsonRpcOptions {
  onNotification(method: string, params: unknown): void;
  /** Answers a request of the server. Throwing answers that the method is not known. */
  onRequest(method: string, params: unknown): unknown;
  /** Called once, with the violation of the protocol, or with nothing if the server just ended. */
  onEnd(fault: string | undefined): void;
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const methodNotFound = -32601;
const maxWaitingBytes = 64 * 1024 * 1024;

/** Speaks JSON-RPC with a program that may send anything. Requests that time out or are aborted are cancelled there. */
export function connectJsonRpc({ stdin, stdout }: Pick<RunningProgram, 'stdin' | 'stdout'>, options: JsonRpcOptions) {
  const waiting = new Map<number, Waiting>();
  let [nextId, isOver] = [1, false];
  const read = createFrameReader({ onFrame: (body) => take(parse(body)), onFault: end });
  stdout.on('data', read);
  for (const event of ['end', 'close', 'error']) stdout.once(event, () => end());
  stdin.on('error', () => end());

  return { request, notify, end };

  function send(message: Record<string, unknown>): void {
    if (stdin.writableLength > maxWaitingBytes) end('it does not read its input');
    if (!isOver) stdin.write(toFrame({ jsonrpc: '2.0', ...message }));
  }

  function notify(method: string, params: unknown): void {
    send({ method, params });
  }

  function request(method: string, params: unknown, { signal, timeoutMs }: RequestOptions): Promise<unknown> {
    signal.throwIfAborted();
    if (isOver) return Promise.reject(new ServerGoneError('the language server has ended'));
    const id = nextId;
    nextId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const cancel = (reason: Error) => {
      if (!waiting.delete(id)) return;
      notify('$/cancelRequest', { id });
      reject(reason);
    };
    const onAbort = () => cancel(signal.reason);
    const timer = setTimeout(() => cancel(new RequestTimeoutError(`no answer in ${timeoutMs / 1000} s`)), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  }

  function take(message: Readonly<Record<string, unknown>> | undefined): void {
    if (!message) end('it sent a message that is no JSON object');
    else if (typeof message.method !== 'string') answerWaiting(waiting, message);
    else if (message.id === undefined) options.onNotification(message.method, message.params);
    else send({ id: message.id, ...respond(options, message.method, message.params) });
  }

  function end(fault?: string): void {
    if (isOver) return;
    isOver = true;
    stdout.off('data', read);
    // A program whose output is not read may never exit.
    stdout.resume();
    stdin.end();
    for (const { reject } of waiting.values()) reject(new ServerGoneError(fault ?? 'the language server has ended'));
    waiting.clear();
    options.onEnd(fault);
  }
}

function respond({ onRequest }: JsonRpcOptions, method: string, params: unknown): Record<string, unknown> {
  try {
    return { result: onRequest(method, params) ?? null };
  } catch {
    return { error: { code: methodNotFound, message: 'not supported' } };
  }
}

/** Ends the wait for an answer. An answer that nobody waits for is dropped. */
function answerWaiting(waiting: Map<number, Waiting>, { id, result, error }: Readonly<Record<string, unknown>>): void {
  const known = typeof id === 'number' ? waiting.get(id) : undefined;
  if (!known) return;
  waiting.delete(id as number);
  if (typeof error !== 'object' || error === null) known.resolve(result);
  else {
    const { code, message } = error as { code?: unknown; message?: unknown };
    known.reject(new ResponseError(Number(code) || 0, String(message ?? '').slice(0, 2000)));
  }
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  const value = parseJson(body);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
