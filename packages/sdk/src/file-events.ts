import { FileEvent } from '@croft/protocol';
import type { Send } from './request.ts';

export interface EventOptions {
  readonly signal?: AbortSignal;
  /** Resumes after the event with this id. */
  readonly lastId?: string;
}

type Told = FileEvent & { id?: string };

const againMs = 1000;

/** Reads events. Reconnects after a lost connection and resumes there. Throws refusals of the server. */
export async function* readEvents(send: Send, path: string, { signal, lastId }: EventOptions): AsyncGenerator<Told> {
  let last = lastId;
  while (!signal?.aborted) {
    const response = await send('GET', path, { headers: { 'last-event-id': last }, signal });
    for await (const event of readStream(response.body)) {
      last = event.id ?? last;
      yield event;
    }
    await pause(againMs, signal);
  }
}

/** Ends with the connection, also after a failure. */
async function* readStream(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Told> {
  const reader = body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (let text = ''; reader; ) {
      const read = await reader.read().catch(() => undefined);
      if (!read || read.done) return;
      const blocks = (text + read.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) yield* toEvents(block);
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

function toEvents(block: string): Told[] {
  const data = /^data: ?(.*)$/m.exec(block)?.[1];
  const id = /^id: ?(.*)$/m.exec(block)?.[1];
  if (data === undefined) return [];
  return [{ ...FileEvent.parse(JSON.parse(data)), ...(id !== undefined && { id }) }];
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
