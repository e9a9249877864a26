import type { ByteRange, OpenFile } from '../../core/files.ts';
import { steadily } from '../../link/methods/body.ts';
import { channels, FileOpened, openFile, readRange } from '../../link/methods/files.ts';
import type { Asking } from './asking.ts';
import { firstTold } from './first-told.ts';
import { nonsense } from './nonsense.ts';

/** Held open at the runner until it is let go of here, or the link is lost. */
export async function openRemoteFile(asking: Asking, at: { place: string; path: string }): Promise<OpenFile> {
  const asked = asking.begin(openFile, at);
  const { file, stat } = await firstTold(asked, FileOpened, asking);
  return {
    stat,
    chunks: (range) => chunksOf(asking, file, range),
    async [Symbol.asyncDispose]() {
      asked.takeBack(new Error('it was let go of'));
    },
  };
}

async function* chunksOf(asking: Asking, file: string, range?: ByteRange): AsyncGenerator<Buffer> {
  const { start, end } = range ?? { start: 0, end: undefined };
  if (end !== undefined && end <= start) return;
  const asked = asking.begin(readRange, { file, start, end });
  const stream = asked.readable(channels.answer);
  let left = (end ?? Number.POSITIVE_INFINITY) - start;
  try {
    for await (const chunk of steadily(stream, asking.patienceMs)) {
      left -= chunk.length;
      if (left < 0) throw nonsense(readRange.name, 'more bytes than were asked for');
      yield chunk;
    }
    await asked.answer;
  } finally {
    asked.takeBack(new Error('nobody reads it any more'));
  }
}
