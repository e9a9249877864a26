/** One server-sent event. */
export interface EventBlock {
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  readonly data?: string | undefined;
}

/** Ends where the connection does, however that came. */
export async function* readEventBlocks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<EventBlock> {
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

function toBlock(block: string): EventBlock {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
  return { event: field('event'), data: field('data'), id: field('id') };
}
