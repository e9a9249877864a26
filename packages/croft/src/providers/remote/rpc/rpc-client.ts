import type { z } from 'zod';
import { parseJson } from '../../../lib/text/parse-json.ts';
import { collectBytes, sendPieces, stalledError } from '../../../link/calls/bounded-streams.ts';
import type { DuplexCall, Peer, PendingCall } from '../../../link/calls/peer.ts';
import type { LinkMethod } from '../../../link/methods/define-method.ts';
import { invalidAnswer, toRunnerError } from './runner-errors.ts';

interface RpcCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** `null` means no limit. */
  readonly deadlineMs?: number | null | undefined;
  /** The longest pause between two pieces on a channel. `null` means no limit. */
  readonly idleMs?: number | null | undefined;
}

/** A call to the other side. Its answer matches the schema, or the call fails. */
export interface RpcCall<Answer> extends DuplexCall {
  /** The name of the called method. */
  readonly method: string;
  readonly answer: Promise<Answer>;
  /** Waits for a step that should not take long. Also resolves if the call is answered first. */
  stepInTime(step: Promise<void>): Promise<void>;
  /** The answer, when nothing but the answer is left to wait for. Fails after `patienceMs`. */
  answerInTime(): Promise<Answer>;
  /** Aborts when the call has been answered or has failed. */
  readonly finished: AbortSignal;
  /** Fails the call with this reason and tells the other side to stop. */
  cancel(reason: unknown): void;
  /**
   * Listens to the messages that the other side sends during the call. A message that does not match the schema fails
   * the call.
   */
  listen<Schema extends z.ZodType>(schema: Schema, onReported: (message: z.output<Schema>) => void): void;
  /**
   * Sends the pieces and ends the channel. Stops early when the call is over, or when the other side takes nothing
   * more.
   */
  sendTo(channel: number, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<number>;
  /** The answer, with at most `maxBytes` that came on a channel before it. */
  withBytes(channel: number, maxBytes: number): Promise<readonly [Answer, Buffer]>;
  /** Like `withBytes`, with the bytes parsed as JSON by this schema. */
  withJson<Schema extends z.ZodType>(channel: number, maxBytes: number, schema: Schema): Promise<z.output<Schema>>;
}

interface RpcClientOptions {
  /** The time limit for a short answer, and between two pieces of a long one. */
  readonly patienceMs: number;
}

export type RpcClient = ReturnType<typeof createRpcClient>;

/**
 * Calls methods on the other side of a link. The other side is hostile: every answer is parsed, and one that does not
 * match fails with `E_SANDBOX_UNAVAILABLE`.
 */
export function createRpcClient(peer: Peer, { patienceMs }: RpcClientOptions) {
  function begin<Params extends z.ZodType, Answer extends z.ZodType>(
    method: LinkMethod<Params, Answer>,
    params: z.input<Params>,
    { signal, deadlineMs = null, idleMs = patienceMs }: RpcCallOptions = {},
  ): RpcCall<z.output<Answer>> {
    const own = new AbortController();
    const either = signal ? AbortSignal.any([own.signal, signal]) : own.signal;
    const call = peer.call(method.name, params, { signal: either, ...(deadlineMs !== null && { deadlineMs }) });
    return toRpcCall(call, { method, own, signal: either, idleMs, patienceMs });
  }

  return {
    begin,
    /** Calls a method that is answered at once. */
    ask: <Params extends z.ZodType, Answer extends z.ZodType>(
      method: LinkMethod<Params, Answer>,
      params: z.input<Params>,
      options?: RpcCallOptions,
    ): Promise<z.output<Answer>> => begin(method, params, { deadlineMs: patienceMs, ...options }).answer,
    patienceMs,
    lost: peer.lost,
  };
}

interface RpcCallParts<Answer extends z.ZodType> extends RpcClientOptions {
  readonly method: LinkMethod<z.ZodType, Answer>;
  /** Cancels the call. */
  readonly own: AbortController;
  /** Aborts if anybody on this side cancelled the call. */
  readonly signal: AbortSignal;
  readonly idleMs: number | null;
}

function toRpcCall<Answer extends z.ZodType>(
  call: PendingCall,
  { method: { name, answer: schema }, own, signal, idleMs, patienceMs }: RpcCallParts<Answer>,
): RpcCall<z.output<Answer>> {
  const finished = new AbortController();
  const failed = (thrown: unknown) => {
    throw signal.aborted ? signal.reason : toRunnerError(thrown, name);
  };
  const answer = call.answer.then((value) => parseAnswer(schema, value, name), failed).finally(() => finished.abort());
  // Callers that await the answer see its error. For all others, this avoids an unhandled rejection.
  answer.catch(() => {});

  const cancel = (reason: unknown) => own.abort(reason);

  function inTime<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => cancel(stalledError(patienceMs)), patienceMs);
    return work.finally(() => clearTimeout(timer));
  }

  async function withBytes(channel: number, maxBytes: number) {
    const tooMuch = () => invalidAnswer(name, `more than the ${maxBytes} bytes that were asked for`);
    const taking = collectBytes(call.readable(channel), { maxBytes, tooMuch, idleMs });
    // If the bytes are wrong the call has to fail too, because its answer might never come.
    taking.catch(cancel);
    return [await answer, await taking] as const;
  }

  return {
    ...{ readable: call.readable, writable: call.writable, sendMessage: call.sendMessage, onMessage: call.onMessage },
    ...{ method: name, answer, finished: finished.signal, withBytes },
    answerInTime: () => inTime(answer),
    stepInTime: (step) => inTime(Promise.race([step, answer.then(() => {})])),
    cancel,
    listen: (body, onReported) => call.onMessage((message) => onReported(parseAnswer(body, message, name))),
    sendTo: (channel, pieces) =>
      sendPieces(call.writable(channel), pieces, { signal: finished.signal, idleMs: patienceMs, onStalled: cancel }),
    async withJson(channel, maxBytes, wanted) {
      const [, bytes] = await withBytes(channel, maxBytes);
      return parseAnswer(wanted, parseJsonAnswer(bytes, name), name);
    },
  };
}

export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  method: string,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidAnswer(method, `${issue?.path.join('.') || 'it'} ${issue?.message ?? 'is not valid'}`.slice(0, 300));
}

function parseJsonAnswer(bytes: Buffer, method: string): unknown {
  const parsed = parseJson(bytes);
  if (parsed === undefined) throw invalidAnswer(method, 'no JSON');
  return parsed;
}
