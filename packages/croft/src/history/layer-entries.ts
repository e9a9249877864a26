import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Content } from '../core/history/store.ts';
import type { TreeEntry } from '../core/history/tree.ts';
import { at } from '../disk/handles.ts';
import { sha256 } from '../lib/sha256.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const readFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const pieceBytes = 1024 * 1024;

/** What stands at a name of an open directory. A content too large to be held is read again while that is open. */
export interface Found {
  readonly entry: TreeEntry;
  readonly content: Content;
}

/** The names in a directory as it has them, without a wait for each few. */
export function* namesNow(directory: number): Generator<Buffer> {
  const opened = opendirSync(`/proc/self/fd/${directory}`, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield Buffer.from(entry.name);
  } finally {
    opened.closeSync();
  }
}

export function statAt(directory: number, name: Buffer): BigIntStats | undefined {
  return lstatSync(at(directory, name), { bigint: true, throwIfNoEntry: false });
}

/** A file or a link. `undefined` for anything else. Throws what the file system does for what went away. */
export async function findEntry(directory: number, name: Buffer, signal?: AbortSignal): Promise<Found | undefined> {
  const stats = statAt(directory, name);
  if (stats?.isSymbolicLink()) return linkEntry(readlinkSync(at(directory, name), { encoding: 'buffer' }));
  return stats?.isFile() ? fileEntry(directory, name, signal) : undefined;
}

function linkEntry(target: Buffer): Found {
  const [hash, size] = [sha256(target), target.length];
  return { entry: { kind: 'link', mode: 0o777, size, hash }, content: { hash, size, bytes: target } };
}

async function fileEntry(directory: number, name: Buffer, signal?: AbortSignal): Promise<Found | undefined> {
  const handle = openSync(at(directory, name), readFlags);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return undefined;
    const { hash, size, whole } = await readThrough(handle, stats.size, signal);
    const again = () => createReadStream('', { fd: openSync(at(directory, name), readFlags) });
    return {
      entry: { kind: 'file', mode: stats.mode & 0o777, size, hash },
      content: { hash, size, bytes: whole ?? again },
    };
  } finally {
    closeSync(handle);
  }
}

/** No more than it has now: one that grows all the time has no end. Of a large one others have their turn in between. */
async function readThrough(handle: number, length: number, signal?: AbortSignal) {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length));
  let size = 0;
  for (let read = -1; read !== 0 && size < length; size += read) {
    signal?.throwIfAborted();
    if (size > 0) await breathe();
    read = readSync(handle, piece, 0, Math.min(piece.length, length - size), null);
    hash.update(piece.subarray(0, read));
  }
  return { hash: hash.digest('hex'), size, ...(length <= pieceBytes && { whole: piece.subarray(0, size) }) };
}
