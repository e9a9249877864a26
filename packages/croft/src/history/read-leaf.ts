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
import type { RawName } from '../core/history/raw-names.ts';
import type { TreeEntry } from '../core/history/tree.ts';
import { errnoOf } from '../disk/errors.ts';
import { at } from '../disk/handles.ts';
import { sha256 } from '../lib/sha256.ts';
import { type Identity, isSameIdentity } from './tree-nodes.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Files above this are never in memory as a whole. */
export const maxWholeBytes = 8 * 1024 * 1024;
const slabBytes = 1024 * 1024;
const attempts = 3;

export interface ReadLeaf {
  readonly entry: TreeEntry;
  readonly identity: Identity;
  /** Left out for a large file. */
  readonly bytes?: Buffer | undefined;
}

/** `gone`: there is no such thing any more. `unreadable`: there is, but not for us. `changing`: all the time. */
export type Unread = 'gone' | 'unreadable' | 'changing';

/** What a name in an open directory holds, never through a link. */
export function readLeaf(directory: number, name: RawName, kind: 'file' | 'link'): ReadLeaf | Unread | 'large' {
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const found = kind === 'link' ? readLink(directory, name) : readFile(directory, name);
      if (found !== 'changing') return found;
    }
    return 'changing';
  } catch (thrown) {
    return meaningOf(thrown);
  }
}

/** Something else is there now: that will be seen. */
export function meaningOf(thrown: unknown): 'gone' | 'unreadable' {
  return ['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO', 'EINVAL'].includes(errnoOf(thrown) ?? '') ? 'gone' : 'unreadable';
}

/** `name` as the kernel takes it. */
export function placeOf(directory: number, name: RawName): string | Buffer {
  return at(directory, /^[\0-\x7f]*$/.test(name) ? name : Buffer.from(name, 'latin1'));
}

export function openLeaf(directory: number, name: RawName): number {
  return openSync(placeOf(directory, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

export function identityOf(stats: BigIntStats): Identity {
  const { ino, mtimeNs, ctimeNs } = stats;
  return { inode: ino, size: Number(stats.size), mtimeNs, ctimeNs, mode: Number(stats.mode) & 0o777 };
}

function readFile(directory: number, name: RawName): ReadLeaf | Unread | 'large' {
  const handle = openLeaf(directory, name);
  try {
    const stats = fstatSync(handle, { bigint: true });
    if (!stats.isFile()) return 'gone';
    const before = identityOf(stats);
    if (before.size > maxWholeBytes) return 'large';
    const bytes = readWhole(handle, before.size);
    const identity = identityOf(fstatSync(handle, { bigint: true }));
    if (bytes.byteLength !== identity.size || !isSameIdentity(before, identity)) return 'changing';
    const { mode, size } = identity;
    return { identity, bytes, entry: { kind: 'file', mode, size, hash: sha256(bytes) } };
  } finally {
    closeSync(handle);
  }
}

let slab = Buffer.alloc(0);

/** Small files share memory, which is free again when all of them are kept: thousands of buffers cost more than reading. */
function fromSlab(size: number): Buffer {
  if (slab.byteLength < size) slab = Buffer.allocUnsafeSlow(slabBytes);
  const piece = slab.subarray(0, size);
  slab = slab.subarray(size);
  return piece;
}

/** One byte more than it should have, to see whether it has. */
function readWhole(handle: number, size: number): Buffer {
  const bytes = size < slabBytes / 16 ? fromSlab(size + 1) : Buffer.allocUnsafeSlow(size + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.byteLength; length += count) {
    count = readSync(handle, bytes, length, bytes.byteLength - length, null);
  }
  return bytes.subarray(0, length);
}

function readLink(directory: number, name: RawName): ReadLeaf | Unread {
  const place = placeOf(directory, name);
  const before = identityOf(lstatSync(place, { bigint: true }));
  const bytes = readlinkSync(place, { encoding: 'buffer' });
  const identity = identityOf(lstatSync(place, { bigint: true }));
  if (!isSameIdentity(before, identity)) return 'changing';
  const entry = { kind: 'link', mode: 0o777, size: bytes.byteLength, hash: sha256(bytes) } as const;
  return { identity, bytes, entry };
}
