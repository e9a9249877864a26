import type { z } from 'zod';
import type { Send } from './request.ts';

export interface EventOptions {
  readonly signal?: AbortSignal | undefined;
  /** Go on after the event of this id. */
  readonly lastId?: string | undefined;
}

interface Block {
  readonly id?: string | undefined;
  readonly data?: string | undefined;
}

const againMs = 1000;

/** A connection that is lost is made again, from where it was. What the server refuses is thrown. */
export async function* readEvents<Schema extends z.ZodType<object>>(
  send: Send,
  path: string,
  schema: Schema,
  { signal, lastId }: EventOptions,
): AsyncGenerator<z.output<Schema> & { id?: string }> {
  let last = lastId;
  while (!signal?.aborted) {
    const response = await send('GET', path, { headers: { 'last-event-id': last }, signal });
    for await (const { id, data } of readStream(response.body)) {
      // A position may come without an event.
      last = id ?? last;
      if (data !== undefined) yield { ...schema.parse(JSON.parse(data)), ...(id !== undefined && { id }) };
    }
    await pause(againMs, signal);
  }
}

/** Ends where the connection does, however that came. */
async function* readStream(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Block> {
  const reader = body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (let text = ''; reader; ) {
      const read = await reader.read().catch(() => undefined);
      if (!read || read.done) return;
      const blocks = (text + read.value).split('\n\n');
      text = blocks.pop() ?? '';
      yield* blocks.map(toBlock);
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

function toBlock(block: string): Block {
  return { data: /^data: ?(.*)$/m.exec(block)?.[1], id: /^id: ?(.*)$/m.exec(block)?.[1] };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
