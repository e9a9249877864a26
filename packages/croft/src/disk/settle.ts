import { lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { AppError } from '@croft/protocol';
import type { Durability } from '../core/durability.ts';
import { type Addon, addon, type SettlingArguments } from './addon.ts';
import { at, statOf } from './handles.ts';
import { isInMemory } from './in-memory.ts';
import { keepsOrder } from './keeps-order.ts';
import { alreadyExists, linkIfFree } from './link.ts';
import { directoryToSync, syncWhile } from './sync.ts';

/** A name in an open directory. */
export interface Place {
  readonly directory: number;
  readonly name: string;
}

/** A file with all its bytes, and where it shall go. */
export interface Settling {
  readonly handle: number;
  /** Where it is, under a name that nobody else knows. */
  readonly from: Place;
  readonly to: Place;
  /** What was there when it was decided to replace it. */
  readonly before: Stats | undefined;
  /** As the caller wrote it. */
  readonly path: string;
}

/**
 * Makes a file durable, puts it in the old one's place, and makes that durable: whoever looks, and whatever stops in
 * between, finds the old bytes or the new. Throws `E_STALE` and changes nothing if another version has come there.
 *
 * One sync after the rename would cost half, and would not do: a journal may take the new name in while the blocks of
 * the new file are on their way, and after a power cut the file is all zeros. See `test/security/power-cut.test.ts`.
 * Where the order is kept, it is enough that the blocks are written first, and one commit makes all of it durable.
 */
export async function settle(settling: Settling, durability: Durability): Promise<void> {
  const isRelaxed = durability === 'relaxed';
  if (!addon) return isRelaxed || isInMemory(settling.handle) ? settleUnsynced(settling) : settleInSteps(settling);
  if (!settleNow(settling, addon, isRelaxed)) await settleAtOnce(settling, addon);
}

/** Where nothing has to be waited for, it has been done before a thread would have begun. False: it has to be. */
export function settleNow(settling: Settling, { settleNow }: Addon, isRelaxed: boolean): boolean {
  const errno = settleNow(...toArguments(settling, isRelaxed));
  if (errno === constants.errno.EAGAIN) return false;
  mustBeDone(errno, settling.path);
  return true;
}

/** On one thread in one go: going there and back takes as long as a sync. */
export async function settleAtOnce(
  settling: Settling,
  { settle }: Addon,
  isOrdered = keepsOrder(settling.before?.dev ?? statOf(settling.handle).dev),
): Promise<void> {
  mustBeDone(await settle(...toArguments(settling, isOrdered)), settling.path);
}

function toArguments({ handle, from, to, before }: Settling, how: boolean): SettlingArguments {
  const version = before ? ([before.ino, before.size, before.mtimeMs] as const) : ([] as const);
  return [handle, from.directory, from.name, to.directory, to.name, how, ...version];
}

function mustBeDone(errno: number, path: string): void {
  if (errno === 0) return;
  if (errno === constants.errno.ESTALE) throw stale(path);
  if (errno === constants.errno.EEXIST) throw alreadyExists(path);
  const code = getSystemErrorName(-errno);
  throw Object.assign(new Error(`a file could not be put in its place: ${code}`), { code });
}

/** Where nothing could be compiled: without a word about the disk. */
export async function settleUnsynced({ from, to, before, path }: Settling): Promise<void> {
  checkUntouched(to, before, path);
  putInPlace(at(from.directory, from.name), at(to.directory, to.name), before !== undefined, path);
}

/** Where nothing could be compiled: with two syncs. */
export async function settleInSteps(settling: Settling): Promise<void> {
  using directory = directoryToSync(settling.to.directory);
  await syncWhile(settling.handle, directory.open);
  await settleUnsynced(settling);
  await directory.sync();
}

/** A file that was not there is linked and not renamed: of two servers that make it at once, one must fail. */
function putInPlace(temporary: string, name: string, isThere: boolean, path: string): void {
  if (!isThere && linkIfFree(temporary, name, path)) unlinkSync(temporary);
  else renameSync(temporary, name);
}

/** Others may write while ours goes to the disk; what they wrote must not be lost to it. */
function checkUntouched({ directory, name }: Place, before: Stats | undefined, path: string): void {
  const now = lstatSync(at(directory, name), { throwIfNoEntry: false });
  if (now?.ino !== before?.ino || now?.mtimeMs !== before?.mtimeMs || now?.size !== before?.size) throw stale(path);
}

export function stale(path: string): AppError {
  return new AppError('E_STALE', `${path} changed since it was last read`, { details: { path } });
}
