import { createHash } from 'node:crypto';
import { fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf } from '../disk/errors.ts';
import { identityOf, type ReadLeaf, type Unread } from './read-leaf.ts';
import { type Identity, isSameIdentity } from './tree-nodes.ts';

const readChunk = promisify(read);
const chunkBytes = 1024 * 1024;
const attempts = 3;

/** What an open file holds that is too large to be held in memory. */
export async function hashLarge(handle: number, signal?: AbortSignal): Promise<ReadLeaf | Unread> {
  if (!fstatSync(handle).isFile()) return 'gone';
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = identityOf(fstatSync(handle, { bigint: true }));
    const hash = await hashPieces(handle, before, signal);
    if (hash === 'unreadable') return hash;
    if (hash === 'changing') continue;
    const { mode, size } = before;
    return { identity: before, entry: { kind: 'file', mode, size, hash } };
  }
  return 'changing';
}

/** Stops as soon as it is clear that it is for nothing: a log that grows all the time is not read to its end. */
async function hashPieces(handle: number, identity: Identity, signal: AbortSignal | undefined): Promise<string> {
  const hasher = createHash('sha256');
  const isSame = () => isSameIdentity(identity, identityOf(fstatSync(handle, { bigint: true })));
  try {
    for await (const piece of piecesOf(handle)) {
      signal?.throwIfAborted();
      if (!isSame()) return 'changing';
      hasher.update(piece);
    }
  } catch (thrown) {
    if (errnoOf(thrown) === undefined || signal?.aborted) throw thrown;
    return 'unreadable';
  }
  return isSame() ? hasher.digest('hex') : 'changing';
}

export async function* piecesOf(handle: number): AsyncGenerator<Buffer> {
  for (let offset = 0; ; ) {
    const { buffer, bytesRead } = await readChunk(handle, Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, offset);
    if (bytesRead === 0) return;
    offset += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
