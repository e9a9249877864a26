import type { ByteRange, OpenFile } from '../../core/files/files.ts';

/**
 * Yields exactly the bytes of the range. Copies each piece, because the file reuses its buffer. Throws if the file
 * became shorter, because the announced length can no longer be sent.
 */
export async function* exactBytes(file: OpenFile, { start, end }: ByteRange): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  for await (const chunk of file.chunks({ start, end })) {
    const piece = new Uint8Array(chunk.subarray(0, end - start - sent));
    sent += piece.length;
    if (piece.length > 0) yield piece;
  }
  if (sent < end - start) throw new Error('the file became shorter while it was sent');
}

/**
 * Reads the next piece only when the client takes it, so that a slow client makes nobody buffer. Closes the file at the
 * end.
 */
export function toFileBody(file: OpenFile, range: ByteRange, signal: AbortSignal): ReadableStream<Uint8Array> {
  const pieces = exactBytes(file, range);
  let isOver = false;
  const end = async () => {
    if (isOver) return;
    isOver = true;
    // Waits for a read that is in progress.
    await pieces.return(undefined).catch(() => {});
    await file[Symbol.asyncDispose]();
  };
  // A client that disconnects before the first read causes no other event.
  signal.addEventListener('abort', () => void end(), { once: true });
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (value) controller.enqueue(value);
          if (done) controller.close();
          if (done) await end();
        } catch (thrown) {
          await end();
          throw thrown;
        }
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
}
