import type { IncomingMessage } from 'node:http';
import { AppError } from '@croft/protocol';

/** Three times the size of a listing page of the longest keys with every byte escaped. */
const maxSmallBytes = 16 << 20;

/**
 * Reads an object that Croft itself interprets. Throws above `maxBytes`: the owner of the bucket or the service may
 * send more, and lie about the size.
 */
export async function readBoundedBody(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const buffered: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw tooMuch(maxBytes);
    buffered.push(piece);
  }
  return Buffer.concat(buffered);
}

/** Reads a small body by its events: iterating over it costs more than signing its request. */
export function readSmallBody(response: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxSmallBytes) response.destroy(tooMuch(maxSmallBytes));
    else chunks.push(chunk);
  });
  response.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  response.once('error', reject);
  return promise;
}

function tooMuch(maxBytes: number): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `the storage sent more than ${maxBytes} bytes, the limit for this kind of object`,
  );
}
