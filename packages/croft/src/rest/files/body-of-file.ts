import type { ByteRange, OpenFile } from '../../core/files.ts';

/** Copies, because each piece is good only until the next. Fails when the file has become shorter: the rest is owed. */
export async function* exactBytes(file: OpenFile, { start, end }: ByteRange): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  for await (const chunk of file.chunks({ start, end })) {
    const piece = new Uint8Array(chunk.subarray(0, end - start - sent));
    sent += piece.length;
    if (piece.length > 0) yield piece;
  }
  if (sent < end - start) throw new Error('the file became shorter while it was sent');
}

/** Asked for piece by piece, so that a slow reader makes nobody hold what it does not take. Lets go of the file at its end. */
export function toBody(file: OpenFile, range: ByteRange, signal: AbortSignal): ReadableStream<Uint8Array> {
  const pieces = exactBytes(file, range);
  let isOver = false;
  const end = async () => {
    if (isOver) return;
    isOver = true;
    // Waits for a read that is under way.
    await pieces.return(undefined).catch(() => {});
    await file[Symbol.asyncDispose]();
  };
  // A client that is gone before the first piece is asked for is never heard of otherwise.
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
