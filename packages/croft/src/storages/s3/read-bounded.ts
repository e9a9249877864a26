import { AppError } from '@croft/protocol';

/** What is for Croft itself to read. Whoever has the bucket, or is the service, may send more, and lie about how much. */
export async function readBounded(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxBytes) throw tooMuch(maxBytes);
    held.push(piece);
  }
  return Buffer.concat(held);
}

export function tooMuch(maxBytes: number): AppError {
  return new AppError('E_STORAGE_FAILED', `the storage answered more than ${maxBytes} bytes where there are fewer`);
}
