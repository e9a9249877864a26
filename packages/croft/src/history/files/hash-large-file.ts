import { fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { createWorkerThread } from '../../lib/concurrency/worker-thread.ts';
import type { HashAnswer, HashQuestion } from './hash-worker.ts';
import type { ReadLeaf, Unread } from './read-leaf.ts';

const readChunk = promisify(read);
const chunkBytes = 1024 * 1024;

const thread = createWorkerThread<HashQuestion, HashAnswer>(new URL('./hash-worker.ts', import.meta.url));

/** Hashes an open file that is too large for memory. A worker thread reads it. */
export async function hashLargeFile(handle: number, signal?: AbortSignal): Promise<ReadLeaf | Unread> {
  if (!fstatSync(handle).isFile()) return 'gone';
  signal?.throwIfAborted();
  const isCalledOff = new Int32Array(new SharedArrayBuffer(4));
  const callOff = () => void Atomics.store(isCalledOff, 0, 1);
  signal?.addEventListener('abort', callOff);
  try {
    return await thread.ask({ handle, isCalledOff });
  } finally {
    signal?.removeEventListener('abort', callOff);
    signal?.throwIfAborted();
  }
}

export async function* readPieces(fd: number): AsyncGenerator<Buffer> {
  for (let offset = 0; ; ) {
    const { buffer, bytesRead } = await readChunk(fd, Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, offset);
    if (bytesRead === 0) return;
    offset += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
