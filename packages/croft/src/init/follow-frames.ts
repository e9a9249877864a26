import { fstatSync, readlinkSync } from 'node:fs';
import { pathFromBytes } from '../lib/files/path-bytes.ts';
import type { Sighting } from './followed-tree.ts';

/** Types of frames to the follower; `native/follow/follow.h` is the other side. */
export const toFollower = { open: 1, take: 2, close: 3, notify: 4 } as const;

/** Types of frames from the follower. */
export const fromFollower = {
  ready: 64,
  opened: 65,
  sightings: 66,
  taken: 67,
  failed: 68,
  changed: 69,
  restart: 70,
} as const;

const openBytes = 24;
const recordBytes = 40;
const base = 0;
/** Indexed by `enum sighting` of the native side. */
const kinds: readonly (Sighting['kind'] | undefined)[] = [
  ...([undefined, 'gone', 'file', 'link', 'directory', 'other', 'listed'] as const),
];

/** Bits in the detail of a `taken` frame: `TAKEN_…` of the native side. */
export const takenDetail = { whole: 1, polled: 2 } as const;

/**
 * Encodes the request to follow an open directory. The follower opens the same directory for itself and reports an
 * error if it cannot.
 */
export function encodeOpen(handle: number): Buffer {
  const { dev, ino } = fstatSync(handle, { bigint: true });
  const head = Buffer.alloc(openBytes);
  head.writeBigUInt64LE(dev, 0);
  head.writeBigUInt64LE(ino, 8);
  head.writeUInt32LE(handle, 16);
  return Buffer.concat([head, readlinkSync(`/proc/self/fd/${handle}`, 'buffer'), Buffer.alloc(1)]);
}

/**
 * Decodes the records of a frame and adds them to `sightings`. Throws a `RangeError` for anything that Croft's follower
 * never sends.
 */
export function readSightings(payload: Buffer, sightings: Sighting[]): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let directory = '';
  for (let at = 0; at < payload.length; ) {
    const length = view.getUint32(at + 4, true);
    const from = at + recordBytes;
    if (from + length > payload.length) throw new RangeError('the follower sent an incomplete record');
    if (view.getUint8(at) === base) {
      directory = length === 0 ? '' : `${pathFromBytes(payload.subarray(from, from + length))}/`;
    } else {
      const name = readName(payload, { from, length, isPlain: view.getUint8(at + 1) === 1 });
      // A record without a name is the directory itself.
      sightings.push(readSighting(view, at, length === 0 ? directory.slice(0, -1) : directory + name));
    }
    at = from + ((length + 7) & ~7);
  }
}

/**
 * Decodes a name. The follower has already checked whether a name is plain ASCII, and checking again would take most of
 * the time.
 */
function readName(
  payload: Buffer,
  { from, length, isPlain }: { from: number; length: number; isPlain: boolean },
): string {
  if (isPlain) return payload.toString('latin1', from, from + length);
  return pathFromBytes(payload.subarray(from, from + length));
}

function readSighting(view: DataView, at: number, path: string): Sighting {
  const kind = kinds[view.getUint8(at)];
  if (kind === undefined) throw new RangeError('the follower sent a record of an unknown kind');
  return {
    path,
    kind,
    mode: view.getUint16(at + 2, true),
    size: view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * 2 ** 32,
    inode: view.getBigUint64(at + 16, true),
    mtimeNs: view.getBigInt64(at + 24, true),
    ctimeNs: view.getBigInt64(at + 32, true),
  };
}
