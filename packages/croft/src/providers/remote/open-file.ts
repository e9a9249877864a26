import type { ByteRange, OpenFile } from '../../core/files/files.ts';
import { withIdleTimeout } from '../../link/calls/bounded-streams.ts';
import { channels, FileOpened, openFile, readRange } from '../../link/methods/files.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';
import { waitForFirstMessage } from './rpc/wait-for-first-message.ts';

/** The runner keeps the file open until it is disposed of here, or the link is lost. */
export async function openRemoteFile(rpc: RpcClient, at: { place: string; path: string }): Promise<OpenFile> {
  const asked = rpc.begin(openFile, at);
  const { file, stat } = await waitForFirstMessage(asked, FileOpened, rpc);
  return {
    stat,
    chunks: (range) => chunksOf(rpc, file, range),
    async [Symbol.asyncDispose]() {
      asked.cancel(new Error('the reader closed it'));
    },
  };
}

async function* chunksOf(rpc: RpcClient, file: string, range?: ByteRange): AsyncGenerator<Buffer> {
  const { start, end } = range ?? { start: 0, end: undefined };
  if (end !== undefined && end <= start) return;
  const asked = rpc.begin(readRange, { file, start, end });
  const stream = asked.readable(channels.answer);
  let left = (end ?? Number.POSITIVE_INFINITY) - start;
  try {
    for await (const chunk of withIdleTimeout(stream, rpc.patienceMs)) {
      left -= chunk.length;
      if (left < 0) throw invalidAnswer(readRange.name, 'more bytes than were asked for');
      yield chunk;
    }
    await asked.answer;
  } finally {
    asked.cancel(new Error('the reader closed it'));
  }
}
