import type { Files, OpenFile } from '../core/files.ts';
import { send } from '../link/methods/body.ts';
import { channels, openFile, readRange } from '../link/methods/files.ts';
import { createOwned, type Handlers, serving, untilAborted } from './serve-means.ts';

/** Each holds a handle of this machine. */
const maxOpen = 256;

interface Held {
  readonly file: OpenFile;
  readonly closing: AbortController;
  /** Its handle is closed after them: by then its number may be another file's. */
  readonly readers: Set<Promise<unknown>>;
}

/** Files that are held open, and parts of them. */
export function serveOpenFiles(filesOf: (place: string) => Files): Handlers {
  const open = createOwned<Held>('file', maxOpen);
  return {
    ...serving(openFile, async ({ place, path }, call) => {
      await using file = await filesOf(place).open(path);
      const held: Held = { file, closing: new AbortController(), readers: new Set() };
      const id = open.add(held);
      try {
        call.tell({ file: id, stat: file.stat });
        return await untilAborted(call.signal);
      } finally {
        open.delete(id);
        held.closing.abort();
        await Promise.allSettled(held.readers);
      }
    }),
    ...serving(readRange, async ({ file: id, start, end = Number.POSITIVE_INFINITY }, call) => {
      const { file, closing, readers } = open.get(id);
      const signal = AbortSignal.any([call.signal, closing.signal]);
      const reading = send(call.writable(channels.answer), copies(file.chunks({ start, end })), { signal });
      readers.add(reading);
      await reading.finally(() => readers.delete(reading));
      closing.signal.throwIfAborted();
      return null;
    }),
  };
}

/** Each is good until the next is asked for, and it may be on its way for longer. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
