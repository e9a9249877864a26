import { lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { AppError } from '@croft/protocol';
import type { Durability } from '../../core/storage/durability.ts';
import { at, statOf } from '../paths/handles.ts';
import { type Addon, addon, type ReplaceArguments } from '../paths/native-addon.ts';
import { type LockWait, retryWhileLocked } from './directory-locks.ts';
import { isInMemory } from './is-in-memory.ts';
import { keepsWriteOrder } from './keeps-write-order.ts';
import { alreadyExists, linkIfFree } from './link-if-free.ts';
import { directoryToSync, syncWhile } from './sync-directory.ts';

/** A name in an open directory. */
export interface NameInDirectory {
  readonly directoryFd: number;
  readonly name: string;
}

/** A complete file, and the name it is to replace. */
export interface DurableReplacement {
  readonly handle: number;
  /** The temporary name of the file, which nobody else knows. */
  readonly from: NameInDirectory;
  readonly to: NameInDirectory;
  /** The stat of the replaced file when the change was decided. */
  readonly before: Stats | undefined;
  /** The path as the caller wrote it. */
  readonly path: string;
}

/**
 * Makes a file durable, renames it over the old one, and makes the rename durable: at any moment, also after a crash,
 * the old or the new bytes are there. Throws `E_STALE` and changes nothing if another version has taken the name.
 *
 * A single sync after the rename would cost half but is not enough: a journal may commit the new name before the blocks
 * of the new file are written, and after a power cut the file is all zeros. See `test/security/power-cut.test.ts`. If
 * the file system keeps the order, it is enough to write the blocks first, and one commit makes everything durable.
 */
export async function replaceDurably(replacement: DurableReplacement, durability: Durability): Promise<void> {
  const isRelaxed = durability === 'relaxed';
  if (!addon)
    return isRelaxed || isInMemory(replacement.handle) ? replaceUnsynced(replacement) : replaceInSteps(replacement);
  if (!(await replaceWithoutSync(replacement, addon, isRelaxed))) await replaceOnThread(replacement, addon);
}

/**
 * Replaces the file on this thread if no sync is needed: that is faster than starting work on another thread. Returns
 * false if a sync is needed.
 */
export async function replaceWithoutSync(
  replacement: DurableReplacement,
  given: Addon,
  isRelaxed: boolean,
): Promise<boolean> {
  const errno = await retryWhileLocked(
    ({ replaceAtOnce }) => replaceAtOnce(...toArguments(replacement, isRelaxed)),
    given,
    toLockWait(replacement),
  );
  if (errno === constants.errno.EAGAIN) return false;
  mustBeDone(errno, replacement.path);
  return true;
}

/** Does all steps in one call on another thread: each switch between threads takes as long as a sync. */
export async function replaceOnThread(
  replacement: DurableReplacement,
  given: Addon,
  isOrdered = keepsWriteOrder(replacement.before?.dev ?? statOf(replacement.handle).dev),
): Promise<void> {
  const errno = await retryWhileLocked(
    ({ replaceDurably }) => replaceDurably(...toArguments(replacement, isOrdered)),
    given,
    toLockWait(replacement),
  );
  mustBeDone(errno, replacement.path);
}

function toLockWait({ path, to }: DurableReplacement): LockWait {
  return { path, directoryFd: () => to.directoryFd };
}

function toArguments({ handle, from, to, before }: DurableReplacement, how: boolean): ReplaceArguments {
  const version = before ? ([before.ino, before.size, before.mtimeMs] as const) : ([] as const);
  return [handle, from.directoryFd, from.name, to.directoryFd, to.name, how, ...version];
}

function mustBeDone(errno: number, path: string): void {
  if (errno === 0) return;
  if (errno === constants.errno.ESTALE) throw stale(path);
  if (errno === constants.errno.EEXIST) throw alreadyExists(path);
  const code = getSystemErrorName(-errno);
  throw Object.assign(new Error(`a file could not be renamed to its name: ${code}`), { code });
}

/** Replaces a file without the addon and without a sync. */
export async function replaceUnsynced({ from, to, before, path }: DurableReplacement): Promise<void> {
  checkUntouched(to, before, path);
  putInPlace(at(from.directoryFd, from.name), at(to.directoryFd, to.name), before !== undefined, path);
}

/** Replaces a file durably without the addon: with two syncs. */
export async function replaceInSteps(replacement: DurableReplacement): Promise<void> {
  using directory = directoryToSync(replacement.to.directoryFd);
  await syncWhile(replacement.handle, directory.open);
  await replaceUnsynced(replacement);
  await directory.sync();
}

/** A new file is linked, not renamed: of two servers that create it at once, one must fail. */
function putInPlace(temporary: string, name: string, isThere: boolean, path: string): void {
  if (!isThere && linkIfFree(temporary, name, path)) unlinkSync(temporary);
  else renameSync(temporary, name);
}

/** Throws if another process changed the file while the new content was synced, so that its change is not lost. */
function checkUntouched({ directoryFd, name }: NameInDirectory, before: Stats | undefined, path: string): void {
  const now = lstatSync(at(directoryFd, name), { throwIfNoEntry: false });
  if (now?.ino !== before?.ino || now?.mtimeMs !== before?.mtimeMs || now?.size !== before?.size) throw stale(path);
}

export function stale(path: string): AppError {
  return new AppError('E_STALE', `${path} changed since it was last read`, { details: { path } });
}
