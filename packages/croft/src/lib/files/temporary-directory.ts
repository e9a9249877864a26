import { chmodSync, chownSync, closeSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openDirectoryFd, removeTreeSync } from './remove-tree-sync.ts';
import {
  isSystemError,
  type OpenedDirectory,
  openIfOwn,
  openOrMakeOwn,
  openSharedTemporary,
  openTemporaryBase,
  temporaryBaseName,
  toUnusableError,
} from './temporary-base.ts';

const made = new Set<string>();
const sweptPrefixes = new Set<string>();
let isCleared = false;
/** The fallback directory of this process, when another user has taken the name `croft-<uid>`. */
let fallbackBase: string | undefined;

/**
 * Makes a new directory with mode 0700 that is removed when this process ends. It lies in a directory of this user, so
 * that no other user can have made it, list it or replace it. Also removes the directories that killed processes left
 * behind.
 */
export function makeTemporaryDirectory(purpose: string, temporary?: string): string {
  try {
    using base = openTemporaryBase(temporary) ?? openFallbackBase(temporary);
    return makeUniqueDirectory(base, purpose);
  } catch (thrown) {
    throw isSystemError(thrown) ? toUnusableError(thrown, temporary) : thrown;
  }
}

/**
 * Lets a group pass through a temporary directory to the files in it. The directory stays owned by this user and not
 * writable for the group: this process, maybe root, later removes its contents.
 */
export function allowGroupToTraverse(path: string, gid: number): void {
  chownSync(path, -1, gid);
  chmodSync(path, 0o710);
}

/** Removes a temporary directory with everything in it before this process ends. A missing directory is no failure. */
export function removeTemporaryDirectory(path: string): void {
  made.delete(path);
  try {
    remove(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
  }
}

/**
 * As `removeTemporaryDirectory`, but a failure does not reach the caller: remains are removed when this process ends.
 */
export function tryRemoveTemporaryDirectory(path: string): void {
  removeQuietly(path);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) made.delete(path);
}

/**
 * Returns a directory that outlives this process, for data that is slow to make again. Returns `undefined` if no such
 * directory is certainly owned by this user.
 */
export function findCacheDirectory(name: string, temporary?: string): string | undefined {
  try {
    using base = openTemporaryBase(temporary);
    using cache = base && openOrMakeOwn(base, name, 0o700);
    return cache?.path;
  } catch {
    return undefined;
  }
}

function openFallbackBase(temporary?: string): OpenedDirectory {
  using shared = openSharedTemporary(temporary);
  const isHere = fallbackBase !== undefined && dirname(fallbackBase) === shared.path;
  const known = isHere ? openIfOwn(shared, basename(fallbackBase as string)) : undefined;
  if (known) return known;
  fallbackBase = makeUniqueDirectory(shared, temporaryBaseName());
  const opened = openOrMakeOwn(shared, basename(fallbackBase));
  if (!opened) throw new Error(`${fallbackBase} was removed as soon as it was made`);
  return opened;
}

/** Makes a directory with an unpredictable name that contains the purpose, the process id and the PID namespace. */
function makeUniqueDirectory(parent: OpenedDirectory, purpose: string): string {
  removeLeftovers(parent, `${purpose}-`);
  const reached = mkdtempSync(`/proc/self/fd/${parent.fd}/${purpose}-${process.pid}-${pidNamespace()}-`);
  const path = join(parent.path, basename(reached));
  clearAtExit();
  made.add(path);
  return path;
}

function clearAtExit(): void {
  if (!isCleared) process.once('exit', () => made.forEach(removeQuietly));
  isCleared = true;
}

/**
 * Removes directories of processes that are gone. Runs once per process and prefix; processes that end later are
 * cleaned up by later starts.
 */
function removeLeftovers(parent: OpenedDirectory, prefix: string): void {
  const key = join(parent.path, prefix);
  if (sweptPrefixes.has(key)) return;
  sweptPrefixes.add(key);
  for (const name of readdirSync(`/proc/self/fd/${parent.fd}`).filter((found) => found.startsWith(prefix))) {
    const [, pid, where] = /^(\d+)-(\d+)-/.exec(name.slice(prefix.length))?.map(Number) ?? [];
    // In another PID namespace the same number is a different process, about which nothing is known here.
    if (pid !== undefined && where === pidNamespace() && !isAlive(pid)) removeLeftover(parent, name);
  }
}

/** Leaves links, files and directories of other users alone, whatever their name. */
function removeLeftover(parent: OpenedDirectory, name: string): void {
  using left = openIfOwn(parent, name, { canBeListed: true });
  if (left) removeQuietly(left.path);
}

function removeQuietly(path: string): void {
  try {
    remove(path);
  } catch {
    // The directory stays; a later process removes it.
  }
}

function remove(path: string): void {
  const parent = openDirectoryFd(dirname(path));
  try {
    removeTreeSync(parent, basename(path));
  } finally {
    closeSync(parent);
  }
}

export function pidNamespace(): number {
  return statSync('/proc/self/ns/pid').ino;
}

function isAlive(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}
