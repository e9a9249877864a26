import type { AgentToolEvent } from '@croft/protocol';

/** Reads the events of a call that is followed while it runs. */
export async function* readCallEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<AgentToolEvent> {
  const reader = body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  for (let text = ''; reader; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (text + value).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data) as AgentToolEvent;
    }
  }
}
