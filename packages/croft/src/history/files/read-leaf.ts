import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import type { TreeEntry } from '../../core/history/ports/tree.ts';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { at } from '../../disk/paths/handles.ts';
import { addon } from '../../disk/paths/native-addon.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { type FileIdentity, isSameIdentity } from '../tree/tree-nodes.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Larger files are never in memory as a whole. */
const maxWholeBytes = 8 * 1024 * 1024;
/** Smaller holes take no longer to read than it takes to examine the file. */
const maxIgnoredHoleBytes = 64 * 1024;
const blockBytes = 512;
const slabBytes = 1024 * 1024;
const attempts = 3;

export interface ReadLeaf {
  readonly entry: TreeEntry;
  readonly identity: FileIdentity;
  /** Absent for a large file. */
  readonly bytes?: Buffer | undefined;
}

/**
 * `gone`: the entry does not exist any more. `unreadable`: we may not read it. `changing`: it changed during every
 * attempt.
 */
export type Unread = 'gone' | 'unreadable' | 'changing';

/** Reads a file or a link in an open directory. Never follows a link. */
export function readLeaf(directoryFd: number, name: RawName, kind: 'file' | 'link'): ReadLeaf | Unread | 'large' {
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const found = kind === 'link' ? readLink(directoryFd, name) : readFile(directoryFd, name);
      if (found !== 'changing') return found;
    }
    return 'changing';
  } catch (thrown) {
    return unreadReasonOf(thrown);
  }
}

/** `gone` includes errors that mean that something else is there now, which the next scan finds. */
export function unreadReasonOf(thrown: unknown): 'gone' | 'unreadable' {
  return ['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO', 'EINVAL'].includes(errnoOf(thrown) ?? '') ? 'gone' : 'unreadable';
}

/** Returns the path of an entry in the form that the kernel takes. */
export function entryPathOf(directoryFd: number, name: RawName): string | Buffer {
  return at(directoryFd, /^[\0-\x7f]*$/.test(name) ? name : Buffer.from(name, 'latin1'));
}

export function openLeaf(directoryFd: number, name: RawName): number {
  return openSync(entryPathOf(directoryFd, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

export function identityOf(stats: BigIntStats): FileIdentity {
  const { ino, mtimeNs, ctimeNs } = stats;
  return { inode: ino, size: Number(stats.size), mtimeNs, ctimeNs, mode: Number(stats.mode) & 0o777 };
}

/** Returns the number of bytes that were never written. They cost nothing to make, and as much to read as others. */
export function holeBytesIn(fd: number, { size, blocks }: BigIntStats): number {
  const missing = Number(size) - Number(blocks) * blockBytes;
  if (missing <= maxIgnoredHoleBytes) return 0;
  // Some file systems report fewer blocks for data that is compressed or not placed yet.
  const hole = addon?.seek(fd, 0, true) ?? 0;
  return hole < Number(size) ? missing : 0;
}

function readFile(directoryFd: number, name: RawName): ReadLeaf | Unread | 'large' {
  const fd = openLeaf(directoryFd, name);
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile()) return 'gone';
    const before = identityOf(stats);
    if (before.size > maxWholeBytes || holeBytesIn(fd, stats) > 0) return 'large';
    const bytes = readWhole(fd, before.size);
    const identity = identityOf(fstatSync(fd, { bigint: true }));
    if (bytes.byteLength !== identity.size || !isSameIdentity(before, identity)) return 'changing';
    const { mode, size } = identity;
    return { identity, bytes, entry: { kind: 'file', mode, size, hash: sha256(bytes) } };
  } finally {
    closeSync(fd);
  }
}

let slab = Buffer.alloc(0);

/**
 * Allocates from a shared buffer, which is freed when all files in it are stored: thousands of buffers cost more than
 * reading.
 */
function fromSlab(size: number): Buffer {
  if (slab.byteLength < size) slab = Buffer.allocUnsafeSlow(slabBytes);
  const piece = slab.subarray(0, size);
  slab = slab.subarray(size);
  return piece;
}

/** Reads one byte more than the size, to notice a file that has grown. */
function readWhole(fd: number, size: number): Buffer {
  const bytes = size < slabBytes / 16 ? fromSlab(size + 1) : Buffer.allocUnsafeSlow(size + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.byteLength; length += count) {
    count = readSync(fd, bytes, length, bytes.byteLength - length, null);
  }
  return bytes.subarray(0, length);
}

function readLink(directoryFd: number, name: RawName): ReadLeaf | Unread {
  const linkPath = entryPathOf(directoryFd, name);
  const before = identityOf(lstatSync(linkPath, { bigint: true }));
  const bytes = readlinkSync(linkPath, { encoding: 'buffer' });
  const identity = identityOf(lstatSync(linkPath, { bigint: true }));
  if (!isSameIdentity(before, identity)) return 'changing';
  const entry = { kind: 'link', mode: 0o777, size: bytes.byteLength, hash: sha256(bytes) } as const;
  return { identity, bytes, entry };
}
