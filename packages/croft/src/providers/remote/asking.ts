import type { z } from 'zod';
import { collect, send, stalled } from '../../link/methods/body.ts';
import type { Method } from '../../link/methods/common.ts';
import type { Calling, Conversation, Peer } from '../../link/peer.ts';
import { nonsense, tame } from './nonsense.ts';

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** `null`: as long as it takes. */
  readonly deadlineMs?: number | null | undefined;
  /** Between two pieces of what comes on a channel. `null`: as long as it takes. */
  readonly idleMs?: number | null | undefined;
}

/** A call at the runner whose answer is what it has to be, or none. */
export interface Asked<Answer> extends Conversation {
  /** What was asked. */
  readonly method: string;
  readonly answer: Promise<Answer>;
  /** A step on the way that should not take long. An answer before its time is a refusal, or the end of everything. */
  patiently(step: Promise<void>): Promise<void>;
  /** The answer, where there is nothing to wait for any more but this. */
  soon(): Promise<Answer>;
  /** Aborts when it has its answer, or its failure. */
  readonly settled: AbortSignal;
  /** It fails with this, and the runner is told to stop. */
  takeBack(reason: unknown): void;
  /** What the runner tells while it is under way. Anything else than this ends the call. */
  listen<Schema extends z.ZodType>(schema: Schema, onTold: (message: z.output<Schema>) => void): void;
  /** Sends it and ends it. Done early when the call is: when it has failed, or nothing of it is taken any more. */
  sendTo(channel: number, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<number>;
  /** The answer, and what came on a channel until then: no more than `maxBytes`. */
  withBytes(channel: number, maxBytes: number): Promise<readonly [Answer, Buffer]>;
  /** The same where it is JSON of this kind. */
  withJson<Schema extends z.ZodType>(channel: number, maxBytes: number, schema: Schema): Promise<z.output<Schema>>;
}

export interface AskingOptions {
  /** For a short answer, and between two pieces of a long one. */
  readonly patienceMs: number;
}

export type Asking = ReturnType<typeof createAsking>;

/** The runner is hostile: whatever it answers is parsed, and what does not fit is `E_SANDBOX_UNAVAILABLE`. */
export function createAsking(peer: Peer, { patienceMs }: AskingOptions) {
  function begin<Params extends z.ZodType, Answer extends z.ZodType>(
    method: Method<Params, Answer>,
    params: z.input<Params>,
    { signal, deadlineMs = null, idleMs = patienceMs }: AskOptions = {},
  ): Asked<z.output<Answer>> {
    const own = new AbortController();
    const either = signal ? AbortSignal.any([own.signal, signal]) : own.signal;
    const call = peer.call(method.name, params, { signal: either, ...(deadlineMs !== null && { deadlineMs }) });
    return toAsked(call, { method, own, signal: either, idleMs, patienceMs });
  }

  return {
    begin,
    /** For what is answered at once. */
    ask: <Params extends z.ZodType, Answer extends z.ZodType>(
      method: Method<Params, Answer>,
      params: z.input<Params>,
      options?: AskOptions,
    ): Promise<z.output<Answer>> => begin(method, params, { deadlineMs: patienceMs, ...options }).answer,
    patienceMs,
    lost: peer.lost,
  };
}

interface AskedOptions<Answer extends z.ZodType> extends AskingOptions {
  readonly method: Method<z.ZodType, Answer>;
  /** Takes the call back. */
  readonly own: AbortController;
  /** Whether anybody here took it back. */
  readonly signal: AbortSignal;
  readonly idleMs: number | null;
}

function toAsked<Answer extends z.ZodType>(
  call: Calling,
  { method: { name, answer: schema }, own, signal, idleMs, patienceMs }: AskedOptions<Answer>,
): Asked<z.output<Answer>> {
  const settled = new AbortController();
  const failed = (thrown: unknown) => {
    throw signal.aborted ? signal.reason : tame(thrown, name);
  };
  const answer = call.answer.then((value) => parse(schema, value, name), failed).finally(() => settled.abort());
  // Who is interested waits for it; who is not has been told otherwise.
  answer.catch(() => {});

  const takeBack = (reason: unknown) => own.abort(reason);

  function inTime<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => takeBack(stalled(patienceMs)), patienceMs);
    return work.finally(() => clearTimeout(timer));
  }

  async function withBytes(channel: number, maxBytes: number) {
    const tooMuch = () => nonsense(name, `more than the ${maxBytes} bytes that were asked for`);
    const taking = collect(call.readable(channel), { maxBytes, tooMuch, idleMs });
    // What is wrong with the bytes is wrong with the answer, which would otherwise never come.
    taking.catch(takeBack);
    return [await answer, await taking] as const;
  }

  return {
    ...{ readable: call.readable, writable: call.writable, tell: call.tell, onTold: call.onTold },
    ...{ method: name, answer, settled: settled.signal, withBytes },
    soon: () => inTime(answer),
    patiently: (step) => inTime(Promise.race([step, answer.then(() => {})])),
    takeBack,
    listen: (told, onTold) => call.onTold((message) => onTold(parse(told, message, name))),
    sendTo: (channel, pieces) =>
      send(call.writable(channel), pieces, { signal: settled.signal, idleMs: patienceMs, onStalled: takeBack }),
    async withJson(channel, maxBytes, wanted) {
      const [, bytes] = await withBytes(channel, maxBytes);
      return parse(wanted, parseJson(bytes, name), name);
    },
  };
}

export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, method: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw nonsense(method, `${issue?.path.join('.') || 'it'} ${issue?.message ?? 'is not valid'}`.slice(0, 300));
}

function parseJson(bytes: Buffer, method: string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw nonsense(method, 'no JSON');
  }
}
