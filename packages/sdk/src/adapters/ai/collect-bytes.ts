import { CroftError } from '../../errors/croft-error.ts';

/** A larger file is written by a command that fetches or makes it. */
const maxBytes = 64 * 1024 * 1024;

export async function collectBytes(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw new CroftError('E_TOO_LARGE', `a file may be written with ${maxBytes} bytes at most`);
    chunks.push(new Uint8Array(chunk));
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
