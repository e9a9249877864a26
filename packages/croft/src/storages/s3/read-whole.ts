import type { IncomingMessage } from 'node:http';
import { tooMuch } from './read-bounded.ts';

/** A page of the longest keys, each byte of them escaped, is a third of this. */
const maxBytes = 16 << 20;

/** All of a body that is not large, by its events: to iterate over one costs more than to sign its request. */
export function readWhole(response: IncomingMessage): Promise<Buffer> {
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
