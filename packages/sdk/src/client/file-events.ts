import type { z } from 'zod';
import { CroftError } from '../errors/croft-error.ts';
import { readEventBlocks } from './read-event-blocks.ts';
import type { Send } from './request.ts';

export interface EventOptions {
  readonly signal?: AbortSignal | undefined;
  /** Go on after the event of this id. */
  readonly lastId?: string | undefined;
}

const firstPauseMs = 1000;
const longestPauseMs = 15_000;

/**
 * A connection that is lost is made again, from where it was, for as long as that takes. The first connection fails as
 * any request does, and what the server refuses is thrown.
 */
export async function* readEvents<Schema extends z.ZodType<object>>(
  send: Send,
  path: string,
  schema: Schema,
  { signal, lastId }: EventOptions,
): AsyncGenerator<z.output<Schema> & { id?: string }> {
  let [last, isFirst, pauseMs] = [lastId, true, firstPauseMs];
  while (!signal?.aborted) {
    const mayFail = (thrown: unknown) => signal?.aborted || (!isFirst && isPassing(thrown));
    const body = await connect(send, path, { lastId: last, signal }, mayFail);
    for await (const { id, data } of readEventBlocks(body ?? null)) {
      // A position may come without an event.
      last = id ?? last;
      if (data !== undefined) yield { ...schema.parse(JSON.parse(data)), ...(id !== undefined && { id }) };
    }
    pauseMs = body ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
    isFirst = false;
    await pauseUnlessAborted(pauseMs, signal);
  }
}

/** `undefined` for a failure that may be waited out. */
async function connect(
  send: Send,
  path: string,
  { signal, lastId }: EventOptions,
  mayFail: (thrown: unknown) => boolean | undefined,
): Promise<Response['body'] | undefined> {
  try {
    return (await send('GET', path, { headers: { 'last-event-id': lastId }, signal })).body;
  } catch (thrown) {
    if (mayFail(thrown)) return undefined;
    throw thrown;
  }
}

/** The server or the way to it is away, and may come back. */
function isPassing(thrown: unknown): boolean {
  if (thrown instanceof TypeError) return true;
  return CroftError.is(thrown) && (thrown.traits.status >= 500 || thrown.code === 'E_RATE_LIMITED');
}

function pauseUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
