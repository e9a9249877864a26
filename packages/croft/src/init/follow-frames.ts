import { fstatSync, readlinkSync } from 'node:fs';
import { pathFromBytes } from '../lib/path-bytes.ts';
import type { Sighting } from './following.ts';

/** What goes to the follower; `native/follow.h` is the other side. */
export const toFollower = { open: 1, take: 2, close: 3, notify: 4 } as const;

/** What comes from it. */
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
/** By `enum sighting`. */
const kinds: readonly (Sighting['kind'] | undefined)[] = [undefined, 'gone', 'file', 'link', 'directory', 'other'];

/** The follower has the same directory open, or says that it cannot. */
export function encodeOpen(handle: number): Buffer {
  const { dev, ino } = fstatSync(handle, { bigint: true });
  const head = Buffer.alloc(openBytes);
  head.writeBigUInt64LE(dev, 0);
  head.writeBigUInt64LE(ino, 8);
  head.writeUInt32LE(handle, 16);
  return Buffer.concat([head, readlinkSync(`/proc/self/fd/${handle}`, 'buffer'), Buffer.alloc(1)]);
}

/** Adds what the records say. Throws a `RangeError` for what our follower never sends. */
export function readSightings(payload: Buffer, sightings: Sighting[]): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let directory = '';
  for (let at = 0; at < payload.length; ) {
    const length = view.getUint32(at + 4, true);
    const from = at + recordBytes;
    if (from + length > payload.length) throw new RangeError('the follower sent a record that is cut');
    if (view.getUint8(at) === base) {
      directory = length === 0 ? '' : `${pathFromBytes(payload.subarray(from, from + length))}/`;
    } else {
      // It has looked already, and to look again is what takes long.
      const isPlain = view.getUint8(at + 1) === 1;
      const name = isPlain
        ? payload.toString('latin1', from, from + length)
        : pathFromBytes(payload.subarray(from, from + length));
      sightings.push(readSighting(view, at, directory + name));
    }
    at = from + ((length + 7) & ~7);
  }
}

function readSighting(view: DataView, at: number, path: string): Sighting {
  const kind = kinds[view.getUint8(at)];
  if (kind === undefined) throw new RangeError('the follower sent a record of no kind');
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
