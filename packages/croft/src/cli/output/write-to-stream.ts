import type { Writable } from 'node:stream';

/** Resolves when the reader can take more, so that a slow one costs no memory. Rejects when the reader is gone. */
export function writeToStream(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((done, fail) => {
    stream.write(data, (failure) => (failure ? fail(failure) : done()));
  });
}
