import { constants, fstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import type { FileKind } from '../core/files.ts';

/** Names a place without opening it: no side effect, and none of the file's content. */
const O_PATH = 0o10000000;

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * `name` in an open directory, as `openat` takes it. The kernel resolves nothing else: the directory is the
 * one the handle holds, wherever it has been moved, and `name` is a single component.
 */
export function at(directory: number, name: string): string;
export function at(directory: number, name: string | Buffer): string | Buffer;
export function at(directory: number, name: string | Buffer): string | Buffer {
  const parent = `/proc/self/fd/${directory}/`;
  // A name that is not UTF-8 cannot be a string and still be found.
  return typeof name === 'string' ? parent + name : Buffer.concat([Buffer.from(parent), name]);
}

/** The names in a directory as it has them. Closes itself when the loop ends. */
export async function* namesIn(directory: number): AsyncGenerator<Buffer> {
  for await (const { name } of opendirSync(`/proc/self/fd/${directory}`, { encoding: 'buffer' as BufferEncoding })) {
    yield Buffer.from(name);
  }
}

/** For a handle that only names a directory. */
export const placeFlags = O_PATH | O_NOFOLLOW | O_DIRECTORY;

/** A handle to whatever is at `name`; a link is held itself. */
export function openPlace(directory: number, name: string): number {
  return openSync(at(directory, name), O_PATH | O_NOFOLLOW);
}

/** Fails with ENOTDIR for anything but a directory, a link to one included. */
export function openDirectory(directory: number, name: string | Buffer): number {
  return openSync(at(directory, name), placeFlags);
}

/** Opens for reading the very file a place holds. Never waits for the other side of a pipe. */
export function reopen(place: number): number {
  return openSync(`/proc/self/fd/${place}`, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/** A directory handle that can be listed and synced, which a place cannot. */
export function reopenDirectory(place: number): number {
  return openSync(`/proc/self/fd/${place}`, O_RDONLY | O_DIRECTORY);
}

export function openRoot(directory: string): number {
  return openSync(directory, O_RDONLY | O_DIRECTORY);
}

export function statOf(handle: number): Stats {
  return fstatSync(handle);
}

export function kindOf(stats: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'link' : 'other';
}
