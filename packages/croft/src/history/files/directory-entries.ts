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
import type { Content } from '../../core/history/ports/history-store.ts';
import type { TreeEntry } from '../../core/history/ports/tree.ts';
import { at } from '../../disk/paths/handles.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const readFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const pieceBytes = 1024 * 1024;

/**
 * An entry of an open directory. A content too large for memory is read again on demand, while the directory is open.
 */
interface EntryWithContent {
  readonly entry: TreeEntry;
  readonly content: Content;
}

/** Yields the names in a directory in raw bytes, synchronously. */
export function* readNames(directoryFd: number): Generator<Buffer> {
  const opened = opendirSync(`/proc/self/fd/${directoryFd}`, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  try {
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield Buffer.from(entry.name);
  } finally {
    opened.closeSync();
  }
}

export function statEntry(directoryFd: number, name: Buffer): BigIntStats | undefined {
  return lstatSync(at(directoryFd, name), { bigint: true, throwIfNoEntry: false });
}

/**
 * Reads a file or a link. Returns `undefined` for anything else. Throws the error of the file system for an entry that
 * is gone.
 */
export async function readEntry(
  directoryFd: number,
  name: Buffer,
  signal?: AbortSignal,
): Promise<EntryWithContent | undefined> {
  const stats = statEntry(directoryFd, name);
  if (stats?.isSymbolicLink()) return linkEntry(readlinkSync(at(directoryFd, name), { encoding: 'buffer' }));
  return stats?.isFile() ? fileEntry(directoryFd, name, signal) : undefined;
}

function linkEntry(target: Buffer): EntryWithContent {
  const [hash, size] = [sha256(target), target.length];
  return { entry: { kind: 'link', mode: 0o777, size, hash }, content: { hash, size, bytes: target } };
}

async function fileEntry(
  directoryFd: number,
  name: Buffer,
  signal?: AbortSignal,
): Promise<EntryWithContent | undefined> {
  const fd = openSync(at(directoryFd, name), readFlags);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return undefined;
    const { hash, size, whole } = await readThrough(fd, stats.size, signal);
    const again = () => createReadStream('', { fd: openSync(at(directoryFd, name), readFlags) });
    return {
      entry: { kind: 'file', mode: stats.mode & 0o777, size, hash },
      content: { hash, size, bytes: whole ?? again },
    };
  } finally {
    closeSync(fd);
  }
}

/**
 * Hashes up to `length` bytes, the size at the start: a file that grows all the time has no end. Other work gets a turn
 * between pieces.
 */
async function readThrough(fd: number, length: number, signal?: AbortSignal) {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length));
  let size = 0;
  for (let read = -1; read !== 0 && size < length; size += read) {
    signal?.throwIfAborted();
    if (size > 0) await breathe();
    read = readSync(fd, piece, 0, Math.min(piece.length, length - size), null);
    hash.update(piece.subarray(0, read));
  }
  return { hash: hash.digest('hex'), size, ...(length <= pieceBytes && { whole: piece.subarray(0, size) }) };
}
