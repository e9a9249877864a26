import { statfsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** An amount of disk space: bytes and number of files. Used for free space, for usage and for limits. */
export interface DiskAmount {
  readonly bytes: number;
  readonly files: number;
}

export const zeroAmount: DiskAmount = { bytes: 0, files: 0 };
export const unlimitedAmount: DiskAmount = { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY };

const combine = (by: (one: number, other: number) => number) => (one: DiskAmount, other: DiskAmount) => ({
  bytes: by(one.bytes, other.bytes),
  files: by(one.files, other.files),
});
export const sumOf = combine((one, other) => one + other);
export const differenceOf = combine((one, other) => one - other);
export const largerOf = combine(Math.max);
export const smallerOf = combine(Math.min);
export const fractionOf = ({ bytes, files }: DiskAmount, part: number): DiskAmount => ({
  bytes: bytes * part,
  files: files * part,
});
/** True if bytes or files are more. */
export const exceeds = (one: DiskAmount, other: DiskAmount) => one.bytes > other.bytes || one.files > other.files;

export interface Filesystem {
  readonly device: number;
  /** Any path on the filesystem. */
  readonly path: string;
}

export interface FilesystemSpaceReader {
  now(filesystem: Filesystem): DiskAmount;
  /** An answer at most 50 ms old: however many callers ask, the filesystem is queried once. */
  recent(filesystem: Filesystem): Promise<DiskAmount>;
}

const recentMs = 50;

/** Reads the free space of filesystems. */
export function createFilesystemSpaceReader(): FilesystemSpaceReader {
  const asked = new Map<number, { readonly at: number; readonly space: Promise<DiskAmount> }>();
  return {
    now: ({ path }) => toDiskAmount(statfsSync(path)),
    recent({ device, path }) {
      const last = asked.get(device);
      const at = performance.now();
      if (last && at - last.at < recentMs) return last.space;
      const space = statfs(path).then(toDiskAmount);
      asked.set(device, { at, space });
      // The path of another caller on the same filesystem may still work.
      space.catch(() => asked.delete(device));
      return space;
    },
  };
}

function toDiskAmount({ bsize, bfree, ffree }: { bsize: number; bfree: number; ffree: number }): DiskAmount {
  return { bytes: bsize * bfree, files: ffree };
}

/** Returns the filesystems of directories, each once. */
export function filesystemsOf(directories: readonly string[]): Filesystem[] {
  const found = new Map(directories.map((path) => [statSync(path).dev, path]));
  return [...found].map(([device, path]) => ({ device, path }));
}
