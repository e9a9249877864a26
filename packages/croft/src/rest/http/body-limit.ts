import { AppError } from '@croft/protocol';
import type { Context } from 'hono';

/**
 * Throws `E_TOO_LARGE` for a body that declares to be over the limit, or turns out to be. A body that declares it is
 * not read: the server drains it from the connection after the answer (`linger-if-sending.ts`).
 */
export async function limitBody({ req }: Context, max: number): Promise<void> {
  const { headers } = req.raw;
  const length = headers.has('transfer-encoding') ? null : headers.get('content-length');
  if (length !== null) {
    if (Number(length) > max) throw tooLarge(max);
  } else if (req.raw.body) {
    // Later readers get the bytes that were already read.
    req.raw = new Request(req.raw, { body: await readUpTo(req.raw.body, max), duplex: 'half' } as RequestInit);
  }
}

async function readUpTo(body: ReadableStream<Uint8Array>, max: number): Promise<Blob> {
  const reader = body.getReader();
  const chunks: BlobPart[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(chunks);
    size += value.length;
    if (size > max) {
      void discard(reader);
      throw tooLarge(max);
    }
    chunks.push(value as Uint8Array<ArrayBuffer>);
  }
}

/**
 * Reads and discards the rest of a body. If the connection were closed, a client that is still sending would not see
 * the answer; if the rest were left unread, the connection could not be used again. The server waits a moment after the
 * answer and then closes the connection anyway.
 */
export async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection is gone, and the rest of the body with it.
  }
}

function tooLarge(max: number): AppError {
  return new AppError('E_TOO_LARGE', `the request body is over ${max} bytes`, { details: { max } });
}
