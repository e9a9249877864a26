import { AppError } from '@croft/protocol';
import { discard } from '../body-limit.ts';

/** Whoever sends nothing for so long has gone, or means to hold the place. Below what makes a half-written file old. */
const idleMs = 30_000;
/** So much is written between two looks at the room there is. */
const stepBytes = 4 * 1024 * 1024;

/** A body as it comes. What is not asked for any more is taken off the connection, so that its sender hears why. */
export async function* readBody(request: Request): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return;
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      isDone = done;
      if (done) return;
      yield value;
    }
  } catch (thrown) {
    isDone = true;
    void reader.cancel().catch(() => {});
    throw AppError.is(thrown) ? thrown : new AppError('E_CANCELLED', 'the body did not come to its end');
  } finally {
    if (!isDone) void discard(reader);
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new AppError('E_TIMEOUT', `nothing more of the body came for ${idleMs / 1000} seconds`);
  const timer = setTimeout(() => reject(late), idleMs);
  try {
    return await Promise.race([reading, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Each part of it only where there is room for it. */
export async function* withinRoom(
  pieces: AsyncIterable<Uint8Array>,
  checkRoom: ((bytes: number) => Promise<void>) | undefined,
): AsyncGenerator<Uint8Array> {
  let unchecked = 0;
  await checkRoom?.(0);
  for await (const piece of pieces) {
    unchecked += piece.byteLength;
    if (unchecked >= stepBytes) {
      await checkRoom?.(unchecked);
      unchecked = 0;
    }
    yield piece;
  }
  await checkRoom?.(unchecked);
}
