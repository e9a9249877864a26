import { closeSync, fchmodSync, fstatSync, lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDirectoryFd, pathInDirectory } from './remove-tree-sync.ts';

/** A checked directory, held open. Using it by its descriptor means that nobody can replace it after the check. */
export interface OpenedDirectory extends Disposable {
  readonly fd: number;
  readonly path: string;
}

/**
 * Thrown when there is no temporary directory that is usable and safe from other users. The message says what to do.
 */
export class UnsafeDirectoryError extends Error {
  override readonly name = 'UnsafeDirectoryError';
}

const ownUserId = () => process.geteuid?.() ?? -1;
export const temporaryBaseName = () => `croft-${ownUserId()}`;
/**
 * Mode 0711 for root, because its sandboxes run as the owners of workspaces, who must pass through to their own
 * directories below.
 */
const temporaryBaseMode = () => (ownUserId() === 0 ? 0o711 : 0o700);

/**
 * Opens `<tmp>/croft-<uid>`, and makes it if it is missing. Returns `undefined` if another user has taken that name.
 */
export function openTemporaryBase(temporary?: string): OpenedDirectory | undefined {
  using shared = openSharedTemporary(temporary);
  return openOrMakeOwn(shared, temporaryBaseName(), temporaryBaseMode());
}

/**
 * Opens the temporary directory of the machine. Throws if other users can rename the entries of this user there,
 * because then nothing in it is safe.
 */
export function openSharedTemporary(path = tmpdir()): OpenedDirectory {
  const opened = toOpened(openDirectoryFd(`${path}/.`));
  const { uid, mode } = fstatSync(opened.fd);
  const isOfMany = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  // A container shows an unmapped owner as 65534; that owner is whoever made the directories of the machine.
  const isOfStranger = ![0, ownUserId(), 65_534].includes(uid);
  if (!isOfMany && !isOfStranger) return opened;
  opened[Symbol.dispose]();
  const why = isOfMany ? 'everybody can rename what is in it' : `it belongs to uid ${uid}`;
  throw new UnsafeDirectoryError(`the temporary directory ${path} is not safe: ${why}; set TMPDIR to one of your own`);
}

export function isSystemError(thrown: unknown): thrown is NodeJS.ErrnoException {
  return thrown instanceof Error && 'syscall' in thrown;
}

/** Explains why the temporary directory cannot be used: missing, full, read-only or owned by another user. */
export function toUnusableError(cause: NodeJS.ErrnoException, path = tmpdir()): UnsafeDirectoryError {
  const isMissing = cause.code === 'ENOENT' && cause.syscall === 'open';
  const reason = isMissing ? 'it does not exist' : (reasons[cause.code ?? ''] ?? cause.message);
  return new UnsafeDirectoryError(
    `the temporary directory ${path} cannot be used: ${reason}; set TMPDIR to one that this user can write to`,
  );
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'nothing can be made in it',
  ENOTDIR: 'it is not a directory',
  ELOOP: 'it is a link',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
};

/** Makes `name` in `parent`, or opens the existing directory if this user owns it. */
export function openOrMakeOwn(
  parent: OpenedDirectory,
  name: string,
  mode = temporaryBaseMode(),
): OpenedDirectory | undefined {
  try {
    mkdirSync(pathInDirectory(parent.fd, name), { mode });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  const opened = openIfOwn(parent, name);
  // The umask may have removed permissions that `mode` asks for.
  if (opened) fchmodSync(opened.fd, mode);
  return opened;
}

/**
 * Opens `name` in `parent` if it is a directory of this user. Returns `undefined` for a link, a file, a directory of
 * another user, and a directory that others can write to or list.
 */
export function openIfOwn(
  parent: OpenedDirectory,
  name: string,
  { canBeListed = false } = {},
): OpenedDirectory | undefined {
  let opened: OpenedDirectory;
  try {
    opened = toOpened(openDirectoryFd(pathInDirectory(parent.fd, name)));
  } catch {
    return undefined;
  }
  const { uid, mode } = fstatSync(opened.fd);
  if (uid === ownUserId() && (mode & (canBeListed ? 0o022 : 0o066)) === 0) return opened;
  opened[Symbol.dispose]();
  return undefined;
}

function toOpened(fd: number): OpenedDirectory {
  return { fd, path: readlinkSync(`/proc/self/fd/${fd}`), [Symbol.dispose]: () => closeSync(fd) };
}

export interface TemporaryBaseReport {
  readonly path: string;
  /** Why the directory `croft-<uid>` cannot be used. */
  readonly problem?: string;
  /** Whether a fallback directory is used in its place, which has no cache. */
  readonly hasOther?: boolean;
}

/** Reports the state of the temporary directory for `croft doctor`. */
export function reportTemporaryBase(temporary = tmpdir()): TemporaryBaseReport {
  const path = join(temporary, temporaryBaseName());
  try {
    using base = openTemporaryBase(temporary);
    return base ? { path } : { path, problem: describeForeign(path), hasOther: true };
  } catch (thrown) {
    const { message } = isSystemError(thrown) ? toUnusableError(thrown, temporary) : (thrown as Error);
    return { path, problem: message, hasOther: false };
  }
}

function describeForeign(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats && stats.uid !== ownUserId()) return `it belongs to uid ${stats.uid}`;
  return stats?.isDirectory() ? 'others can list it or write to it' : 'it is not a directory';
}
