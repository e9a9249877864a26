import { createHash, type Hash } from 'node:crypto';
import { closeSync, fchmodSync, fsync, type Stats, write as writeFrom } from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '@croft/protocol';
import type { Durability } from '../core/durability.ts';
import type { FileVersion, Precondition, Uploaded } from '../core/files.ts';
import { statOf } from './handles.ts';
import { giveTo } from './ownership.ts';
import { maxWholeBytes, mustBeFile, toStat, versionByStat } from './read.ts';
import { type Place, settle } from './settle.ts';
import { newTemporaryName } from './temporary.ts';
import type { Spot } from './walk.ts';
import { discard, lookAgain, mustBeExpected } from './write.ts';
import { openNew } from './write-beside.ts';

const writeChunk = promisify(writeFrom);
const sync = promisify(fsync);

/**
 * A file that is all there, as durable as it has to be, and nowhere yet. It is gone when it is let go of before it is put
 * somewhere.
 */
export interface Spooled extends Disposable {
  readonly handle: number;
  /** Where it waits. */
  readonly from: Place;
  readonly hash: string;
}

export interface SpoolOptions {
  readonly maxBytes: number;
  /** As the caller wrote it. */
  readonly path: string;
  readonly durability: Durability;
}

/** `directory` is one of the workspace's own: what waits there can be put anywhere in it without being copied. */
export async function spool(
  directory: number,
  pieces: AsyncIterable<Uint8Array>,
  { maxBytes, path, durability }: SpoolOptions,
): Promise<Spooled> {
  const from = { directory, name: newTemporaryName() };
  const handle = openNew(from);
  const letGo = () => {
    closeSync(handle);
    discard(from);
  };
  try {
    const hash = await writePieces(handle, pieces, maxBytes, path);
    if (durability === 'strict') await sync(handle);
    return { handle, from, hash: hash.digest('hex'), [Symbol.dispose]: letGo };
  } catch (thrown) {
    letGo();
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

export interface PlaceOptions {
  readonly spot: Spot;
  readonly spooled: Spooled;
  readonly expect: Precondition | undefined;
  /** As the caller wrote it. */
  readonly path: string;
  readonly durability: Durability;
}

/** Puts it where it belongs. Not for two calls at once on one path. */
export async function place({ spot, spooled, expect, path, durability }: PlaceOptions): Promise<Uploaded> {
  using again = lookAgain(spot);
  const before = again.found && mustBeFile(again.found.stats, path);
  await mustBeExpected(again.found, expect, path);
  giveTo(spooled.handle, before ?? statOf(spot.directory));
  if (before) fchmodSync(spooled.handle, before.mode & 0o777);
  const { handle, from, hash } = spooled;
  await settle({ handle, from, to: spot, before, path }, durability);
  return { ...toVersion(spot, statOf(handle), hash), isNew: before === undefined };
}

/** As it is told of a file that is looked at: what is too large to be hashed again has no hash now either. */
function toVersion({ path }: Spot, stats: Stats, hash: string): FileVersion {
  return { ...toStat(path, stats), version: stats.size > maxWholeBytes ? versionByStat(stats) : hash };
}

function tooLarge(path: string, max: number): AppError {
  return new AppError('E_TOO_LARGE', `what is sent is over ${max} bytes: ${path}`, { details: { path, max } });
}
