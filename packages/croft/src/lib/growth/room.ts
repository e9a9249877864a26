import { statfsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** On a filesystem: what is left, what is taken, what may be. */
export interface Room {
  readonly bytes: number;
  readonly files: number;
}

export const noRoom: Room = { bytes: 0, files: 0 };
export const endlessRoom: Room = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY };

const combine = (by: (one: number, other: number) => number) => (one: Room, other: Room) => ({
  bytes: by(one.bytes, other.bytes),
  files: by(one.files, other.files),
});
export const sumOf = combine((one, other) => one + other);
export const differenceOf = combine((one, other) => one - other);
export const largerOf = combine(Math.max);
export const smallerOf = combine(Math.min);
export const partOf = ({ bytes, files }: Room, part: number): Room => ({ bytes: bytes * part, files: files * part });
/** In one of the two at least. */
export const exceeds = (one: Room, other: Room) => one.bytes > other.bytes || one.files > other.files;

export interface Filesystem {
  readonly device: number;
  /** Any path on it. */
  readonly path: string;
}

export interface RoomFinder {
  now(filesystem: Filesystem): Room;
  /** A moment old at most: however many ask, the filesystem is asked once. */
  recent(filesystem: Filesystem): Promise<Room>;
}

const recentMs = 50;

/** Asks filesystems what they have left. */
export function createRoomFinder(): RoomFinder {
  const asked = new Map<number, { readonly at: number; readonly room: Promise<Room> }>();
  return {
    now: ({ path }) => toRoom(statfsSync(path)),
    recent({ device, path }) {
      const last = asked.get(device);
      const at = performance.now();
      if (last && at - last.at < recentMs) return last.room;
      const room = statfs(path).then(toRoom);
      asked.set(device, { at, room });
      // Somebody else's path may still work.
      room.catch(() => asked.delete(device));
      return room;
    },
  };
}

function toRoom({ bsize, bfree, ffree }: { bsize: number; bfree: number; ffree: number }): Room {
  return { bytes: bsize * bfree, files: ffree };
}

/** The filesystems that directories are on, each once. */
export function filesystemsOf(directories: readonly string[]): Filesystem[] {
  const found = new Map(directories.map((path) => [statSync(path).dev, path]));
  return [...found].map(([device, path]) => ({ device, path }));
}
