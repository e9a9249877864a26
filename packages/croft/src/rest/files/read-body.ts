import { AppError } from '@croft/protocol';
import { discard } from '../http/body-limit.ts';

/**
 * A client that sends nothing for this long is gone, or only blocks the upload. Shorter than the age at which a
 * half-written file counts as abandoned.
 */
const idleMs = 30_000;

/**
 * Yields a body as it arrives. If the reader stops early, the rest is drained from the connection, so that the client
 * gets the answer.
 */
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
