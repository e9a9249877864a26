import { createHash, type Hash } from 'node:crypto';
import { closeSync, fchmodSync, fsync, type Stats, write as writeFrom } from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '@croft/protocol';
import type { FileVersion, Precondition, UploadedFile } from '../../core/files/files.ts';
import type { Durability } from '../../core/storage/durability.ts';
import { type NameInDirectory, replaceDurably } from '../durable/replace-durably.ts';
import { newTemporaryName } from '../durable/temporary-file-names.ts';
import { giveTo } from '../paths/give-to-directory-owner.ts';
import { statOf } from '../paths/handles.ts';
import type { ResolvedPath } from '../paths/walk.ts';
import { maxWholeBytes, mustBeFile, toStat, versionByStat } from '../read/read-content.ts';
import { discard, mustBeExpected, openCurrent } from './replace-file.ts';
import { openNew } from './write-temporary-file.ts';

const writeChunk = promisify(writeFrom);
const sync = promisify(fsync);

/**
 * A completely received upload in a temporary file, synced if durability requires it, but not in its place yet.
 * Disposing it removes the temporary file unless it was moved to its place.
 */
export interface SpooledUpload extends Disposable {
  readonly handle: number;
  /** The temporary name of the file. */
  readonly from: NameInDirectory;
  readonly hash: string;
}

interface SpoolOptions {
  readonly maxBytes: number;
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly durability: Durability;
}

/**
 * Writes an upload to a temporary file in `directory`, which is in the workspace, so that the file can be moved to any
 * path of the workspace without a copy.
 */
export async function spoolUpload(
  directoryFd: number,
  pieces: AsyncIterable<Uint8Array>,
  { maxBytes, path, durability }: SpoolOptions,
): Promise<SpooledUpload> {
  const from = { directoryFd: directoryFd, name: newTemporaryName() };
  const handle = openNew(from);
  const dispose = () => {
    closeSync(handle);
    discard(from);
  };
  try {
    const hash = await writePieces(handle, pieces, maxBytes, path);
    if (durability === 'strict') await sync(handle);
    return { handle, from, hash: hash.digest('hex'), [Symbol.dispose]: dispose };
  } catch (thrown) {
    dispose();
    throw thrown;
  }
}

async function writePieces(
  handle: number,
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
  path: string,
): Promise<Hash> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of pieces) {
    if (size + piece.byteLength > maxBytes) throw tooLarge(path, maxBytes);
    hash.update(piece);
    for (let offset = 0; offset < piece.byteLength; ) {
      offset += (await writeChunk(handle, piece, offset, piece.byteLength - offset, size + offset)).bytesWritten;
    }
    size += piece.byteLength;
  }
  return hash;
}

interface UploadReplacement {
  readonly target: ResolvedPath;
  readonly spooled: SpooledUpload;
  readonly expect: Precondition | undefined;
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly durability: Durability;
}

/** Replaces the file at the path by the upload. Two calls must not run for one path at once. */
export async function replaceWithUpload({
  target,
  spooled,
  expect,
  path,
  durability,
}: UploadReplacement): Promise<UploadedFile> {
  using again = openCurrent(target);
  const before = again.found && mustBeFile(again.found.stats, path);
  await mustBeExpected(again.found, expect, path);
  giveTo(spooled.handle, before ?? statOf(target.directoryFd));
  if (before) fchmodSync(spooled.handle, before.mode & 0o777);
  const { handle, from, hash } = spooled;
  await replaceDurably({ handle, from, to: target, before, path }, durability);
  return { ...toVersion(target, statOf(handle), hash), isNew: before === undefined };
}

/** The version as a later read reports it: a file too large to be hashed gets no hash here either. */
function toVersion({ path }: ResolvedPath, stats: Stats, hash: string): FileVersion {
  return { ...toStat(path, stats), version: stats.size > maxWholeBytes ? versionByStat(stats) : hash };
}

function tooLarge(path: string, max: number): AppError {
  return new AppError('E_TOO_LARGE', `the upload is larger than ${max} bytes: ${path}`, { details: { path, max } });
}
