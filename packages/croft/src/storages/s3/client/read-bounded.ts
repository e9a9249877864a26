import { AppError } from '@croft/protocol';

/**
 * Reads an object that Croft itself interprets. Throws above `maxBytes`: the owner of the bucket or the service may
 * send more, and lie about the size.
 */
export async function readBounded(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const buffered: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw tooMuch(maxBytes);
    buffered.push(piece);
  }
  return Buffer.concat(buffered);
}

export function tooMuch(maxBytes: number): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `the storage sent more than ${maxBytes} bytes, the limit for this kind of object`,
  );
}
