import type { IncomingMessage } from 'node:http';
import { tooMuch } from './read-bounded.ts';

/** Three times the size of a listing page of the longest keys with every byte escaped. */
const maxBytes = 16 << 20;

/** Reads a small body by its events: iterating over it costs more than signing its request. */
export function readSmallBody(response: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) response.destroy(tooMuch(maxBytes));
    else chunks.push(chunk);
  });
  response.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  response.once('error', reject);
  return promise;
}
