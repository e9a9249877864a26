import { constants, fstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { constants as system } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { FileKind } from '../../core/files/files.ts';
import { addon } from './native-addon.ts';

/** Refers to a file without opening it: no side effect, and no access to its content. */
const O_PATH = 0o10000000;

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * The path of `name` in an open directory, like the arguments of `openat`. The kernel resolves nothing else: the
 * directory is the one behind the handle, even if it was moved, and `name` is a single component.
 */
export function at(directory: number, name: string): string;
export function at(directory: number, name: string | Buffer): string | Buffer;
export function at(directory: number, name: string | Buffer): string | Buffer {
  const parent = `/proc/self/fd/${directory}/`;
  // A name that is not UTF-8 would change if it were converted to a string.
  return typeof name === 'string' ? parent + name : Buffer.concat([Buffer.from(parent), name]);
}

/** Yields the names in a directory as bytes. Closes the directory when the loop ends. */
export async function* namesIn(directoryFd: number): AsyncGenerator<Buffer> {
  for await (const { name } of opendirSync(`/proc/self/fd/${directoryFd}`, { encoding: 'buffer' as BufferEncoding })) {
    yield Buffer.from(name);
  }
}

/** Flags for an `O_PATH` handle of a directory. */
export const directoryPathFlags = O_PATH | O_NOFOLLOW | O_DIRECTORY;

/** Flags for an `O_PATH` handle of any entry; a link is opened itself. */
const entryPathFlags = O_PATH | O_NOFOLLOW;

export function openAt(directoryFd: number, name: string | Buffer, flags: number, mode?: number): number {
  return handleOf(tryOpen(directoryFd, name, flags, mode));
}

/** An `O_PATH` handle of what is at `name` now, or `undefined`. */
export function probe(directoryFd: number, name: string): number | undefined {
  const answer = tryOpen(directoryFd, name, entryPathFlags);
  return answer === -system.errno.ENOENT ? undefined : handleOf(answer);
}

/** Opens a directory. Fails with ENOTDIR for anything else, including a link to a directory. */
export function openDirectory(directoryFd: number, name: string | Buffer): number {
  return openAt(directoryFd, name, directoryPathFlags);
}

/**
 * As `openDirectory` for several names, in one system call. `undefined` if that fails for any reason, such as a link on
 * the way.
 */
export function openDirectoryBelow(directoryFd: number, names: readonly string[]): number | undefined {
  return openBelow(directoryFd, names, directoryPathFlags);
}

/** As `probe` for several names, in one system call. */
export function probeBelow(directoryFd: number, names: readonly string[]): number | undefined {
  return openBelow(directoryFd, names, entryPathFlags);
}

function openBelow(directoryFd: number, names: readonly string[], flags: number): number | undefined {
  const answer = names.length > 0 && addon ? addon.open(directoryFd, names.join('/'), flags, 0) : -1;
  return answer < 0 ? undefined : answer;
}

/** Opens for reading exactly the file of an `O_PATH` handle. Never waits for the other end of a pipe. */
export function reopen(pathFd: number): number {
  return reopenWith(pathFd, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/** Opens a directory handle that can be listed and synced, unlike an `O_PATH` handle. */
export function reopenDirectory(pathFd: number): number {
  return reopenWith(pathFd, O_RDONLY | O_DIRECTORY);
}

function reopenWith(pathFd: number, flags: number): number {
  return addon ? handleOf(addon.reopen(pathFd, flags)) : openSync(`/proc/self/fd/${pathFd}`, flags);
}

/**
 * Returns a handle, or the negated errno. Uses the addon if possible, because resolving the directory through `/proc`
 * takes longer than all the rest.
 */
function tryOpen(directoryFd: number, name: string | Buffer, flags: number, mode = 0): number {
  if (addon && typeof name === 'string') return addon.open(directoryFd, name, flags, mode);
  try {
    return openSync(at(directoryFd, name), flags, mode);
  } catch (thrown) {
    if (thrown instanceof Error && 'errno' in thrown && typeof thrown.errno === 'number') return thrown.errno;
    throw thrown;
  }
}

/** Throws like Node does: callers recognise a kernel error by its `syscall`. */
function handleOf(answer: number): number {
  if (answer >= 0) return answer;
  const code = getSystemErrorName(answer);
  const said = { code, errno: answer, syscall: 'open' };
  throw Object.assign(new Error(`a file could not be opened: ${code}`), said);
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
