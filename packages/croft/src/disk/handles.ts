import { constants, fstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { constants as system } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { FileKind } from '../core/files.ts';
import { addon } from './addon.ts';

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

/** Whatever is at `name`; a link is held itself. */
const heldFlags = O_PATH | O_NOFOLLOW;

/** Opens a name in an open directory. */
export function openAt(directory: number, name: string | Buffer, flags: number, mode?: number): number {
  return handleOf(tryOpen(directory, name, flags, mode));
}

/** A handle to what is at `name` now, or `undefined`. */
export function probe(directory: number, name: string): number | undefined {
  const answer = tryOpen(directory, name, heldFlags);
  return answer === -system.errno.ENOENT ? undefined : handleOf(answer);
}

/** Fails with ENOTDIR for anything but a directory, a link to one included. */
export function openDirectory(directory: number, name: string | Buffer): number {
  return openAt(directory, name, placeFlags);
}

/** As `openDirectory`, for a way that the kernel can go at once, since no link is on it; `undefined` whyever it cannot. */
export function openDirectoryBelow(directory: number, names: readonly string[]): number | undefined {
  return openBelow(directory, names, placeFlags);
}

/** As `probe`, in the same way. */
export function probeBelow(directory: number, names: readonly string[]): number | undefined {
  return openBelow(directory, names, heldFlags);
}

function openBelow(directory: number, names: readonly string[], flags: number): number | undefined {
  const answer = names.length > 0 && addon ? addon.open(directory, names.join('/'), flags, 0) : -1;
  return answer < 0 ? undefined : answer;
}

/** Opens for reading the very file a place holds. Never waits for the other side of a pipe. */
export function reopen(place: number): number {
  return reopenWith(place, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/** A directory handle that can be listed and synced, which a place cannot. */
export function reopenDirectory(place: number): number {
  return reopenWith(place, O_RDONLY | O_DIRECTORY);
}

function reopenWith(place: number, flags: number): number {
  return addon ? handleOf(addon.reopen(place, flags)) : openSync(`/proc/self/fd/${place}`, flags);
}

/** A handle, or the errno of what failed, negated. To find the directory again by `/proc` takes longer than all the rest. */
function tryOpen(directory: number, name: string | Buffer, flags: number, mode = 0): number {
  if (addon && typeof name === 'string') return addon.open(directory, name, flags, mode);
  try {
    return openSync(at(directory, name), flags, mode);
  } catch (thrown) {
    if (thrown instanceof Error && 'errno' in thrown && typeof thrown.errno === 'number') return thrown.errno;
    throw thrown;
  }
}

/** Throws as Node would. */
function handleOf(answer: number): number {
  if (answer >= 0) return answer;
  const code = getSystemErrorName(answer);
  throw Object.assign(new Error(`a file could not be opened: ${code}`), { code });
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
