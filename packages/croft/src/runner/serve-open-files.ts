import type { Files, OpenFile } from '../core/files/files.ts';
import { sendPieces } from '../link/calls/bounded-streams.ts';
import { channels, openFile, readRange } from '../link/methods/files.ts';
import { createHandleTable, type LinkHandlers, serveMethod, untilAborted } from './serve-helpers.ts';

/** Each open file uses a descriptor of this machine. */
const maxOpen = 256;

interface ServedFile {
  readonly file: OpenFile;
  readonly closing: AbortController;
  /** The descriptor is closed only after these reads: otherwise its number might already belong to another file. */
  readonly readers: Set<Promise<unknown>>;
}

/** Serves files that stay open, and reads of parts of them. */
export function serveOpenFiles(filesOf: (handle: string) => Files): LinkHandlers {
  const open = createHandleTable<ServedFile>('file', maxOpen);
  return {
    ...serveMethod(openFile, async ({ place: handle, path }, call) => {
      await using file = await filesOf(handle).open(path);
      const served: ServedFile = { file, closing: new AbortController(), readers: new Set() };
      const id = open.add(served);
      try {
        call.sendMessage({ file: id, stat: file.stat });
        return await untilAborted(call.signal);
      } finally {
        open.delete(id);
        served.closing.abort();
        await Promise.allSettled(served.readers);
      }
    }),
    ...serveMethod(readRange, async ({ file: id, start, end = Number.POSITIVE_INFINITY }, call) => {
      const { file, closing, readers } = open.get(id);
      const signal = AbortSignal.any([call.signal, closing.signal]);
      const reading = sendPieces(call.writable(channels.answer), copies(file.chunks({ start, end })), { signal });
      readers.add(reading);
      await reading.finally(() => readers.delete(reading));
      closing.signal.throwIfAborted();
      return null;
    }),
  };
}

/** Copies each chunk, because the file reuses its buffer while a chunk may still be in flight. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
