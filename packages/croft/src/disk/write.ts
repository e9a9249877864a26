import {
  close,
  closeSync,
  constants,
  fchmodSync,
  fsync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  write as writeFrom,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '@croft/protocol';
import type { FileVersion, Precondition } from '../core/files.ts';
import { sha256 } from '../lib/sha256.ts';
import { at, reopenDirectory, statOf } from './handles.ts';
import { linkIfFree } from './link.ts';
import { giveTo } from './ownership.ts';
import { toStat, versionOf } from './read.ts';
import { newTemporaryName } from './temporary.ts';
import { probe, type Spot } from './walk.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const sync = promisify(fsync);
const closeLater = promisify(close);
const writeChunk = promisify(writeFrom);

/** Below this a write to the page cache takes less time than handing it to a thread. */
const maxSyncBytes = 256 * 1024;

export interface WriteOptions {
  readonly spot: Spot;
  readonly bytes: Uint8Array;
  readonly expect: Precondition | undefined;
  /** As the caller wrote it. */
  readonly path: string;
}

/**
 * Writes beside the old file, makes that durable, then puts it in the old one's place: whoever looks, and
 * whatever stops in between, finds the old bytes or the new. Not for two calls at once on one path.
 */
export async function replaceFile({ spot, bytes, expect, path }: WriteOptions): Promise<FileVersion> {
  const temporary = at(spot.directory, newTemporaryName());
  let stats: Stats;
  try {
    const before = await check(spot, expect, path);
    stats = await writeBeside({ temporary, bytes, before, directory: spot.directory });
    checkUntouched(spot, before, path);
    putInPlace(temporary, at(spot.directory, spot.name), before !== undefined, path);
  } catch (thrown) {
    discard(temporary);
    throw thrown;
  }
  // The last handle to a file that was replaced frees its blocks when it closes, which takes its time.
  const replaced = spot.take();
  await Promise.all([syncDirectory(spot.directory), replaced && closeLater(replaced.handle)]);
  return { ...toStat(spot.path, stats), version: sha256(bytes) };
}

interface BesideOptions {
  readonly temporary: string;
  readonly bytes: Uint8Array;
  readonly before: Stats | undefined;
  readonly directory: number;
}

async function writeBeside({ temporary, bytes, before, directory }: BesideOptions): Promise<Stats> {
  const handle = openSync(temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o666);
  try {
    giveTo(handle, before ?? statOf(directory));
    if (before) fchmodSync(handle, before.mode & 0o777);
    await writeAll(handle, bytes);
    await sync(handle);
    return statOf(handle);
  } finally {
    closeSync(handle);
  }
}

/** A file that was not there is linked and not renamed: of two servers that make it at once, one must fail. */
function putInPlace(temporary: string, name: string, isThere: boolean, path: string): void {
  if (!isThere && linkIfFree(temporary, name, path)) unlinkSync(temporary);
  else renameSync(temporary, name);
}

/** Makes the names in a directory durable. */
export async function syncDirectory(directory: number): Promise<void> {
  const handle = reopenDirectory(directory);
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}

async function check(spot: Spot, expect: Precondition | undefined, path: string): Promise<Stats | undefined> {
  const place = probe(spot.directory, spot.name);
  if (place === undefined) {
    if (expect !== undefined && expect !== 'absent') throw stale(path);
    return undefined;
  }
  try {
    const stats = statOf(place);
    if (stats.isDirectory()) throw new AppError('E_NOT_A_FILE', `path is a directory: ${path}`, { details: { path } });
    if (!stats.isFile()) throw new AppError('E_NOT_A_FILE', `not a regular file: ${path}`, { details: { path } });
    if (expect === 'absent') throw new AppError('E_ALREADY_EXISTS', `already exists: ${path}`, { details: { path } });
    if (expect && (await versionOf(place, stats, path)) !== expect.version) throw stale(path);
    return stats;
  } finally {
    closeSync(place);
  }
}

/** Others may write while ours goes to the disk; what they wrote must not be lost to it. */
function checkUntouched(spot: Spot, before: Stats | undefined, path: string): void {
  const place = probe(spot.directory, spot.name);
  if (place === undefined) {
    if (before) throw stale(path);
    return;
  }
  const now = statOf(place);
  closeSync(place);
  if (!before || now.ino !== before.ino || now.mtimeMs !== before.mtimeMs || now.size !== before.size)
    throw stale(path);
}

async function writeAll(handle: number, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    const isSmall = bytes.byteLength - offset <= maxSyncBytes;
    offset += isSmall ? writeSync(handle, bytes, offset) : (await writeChunk(handle, bytes, offset)).bytesWritten;
  }
}

function discard(temporary: string): void {
  try {
    unlinkSync(temporary);
  } catch {
    // Already gone or renamed; the failure that brought us here is the one to tell.
  }
}

function stale(path: string): AppError {
  return new AppError('E_STALE', `${path} changed since it was last read`, { details: { path } });
}
