import { createHash } from 'node:crypto';
import { closeSync, read as readInto, readSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '@croft/protocol';
import type { CurrentFile, FileContent, FileStat, FileState, FileVersion, OpenFile } from '../core/files.ts';
import { missing } from '../core/path-errors.ts';
import { sha256 } from '../lib/sha256.ts';
import { fileError } from './errors.ts';
import { find, type Sight } from './find.ts';
import { kindOf, reopen } from './handles.ts';
import { type Found, type Root, type Spot, walk } from './walk.ts';

/** Files above this are not read whole: no edit, and a version from their stat alone. */
export const maxWholeBytes = 64 * 1024 * 1024;

/** Below this a read takes less time than handing it to a thread. */
const maxSyncBytes = 256 * 1024;
const chunkBytes = 1024 * 1024;

const readChunk = promisify(readInto);

export function readStat(root: Root, path: string): FileStat {
  using spot = find(root, path);
  if (!spot.found) throw missing(path);
  return toStat(spot.path, spot.found.stats);
}

export async function readContent(root: Root, path: string, maxBytes = maxWholeBytes): Promise<FileContent> {
  using spot = find(root, path);
  const stats = regularFile(spot, path);
  if (stats.size > maxBytes) throw tooLarge(path, stats.size, maxBytes);
  const place = spot.found?.handle ?? -1;
  const bytes = readIfSmall(place, stats.size) ?? (await readWhole(place, maxBytes, path));
  return { ...toStat(spot.path, stats), bytes, version: sha256(bytes) };
}

export async function readVersion(root: Root, path: string): Promise<FileVersion | undefined> {
  using spot = ifThere(() => find(root, path));
  if (!spot?.found) return undefined;
  const stats = regularFile(spot, path);
  return { ...toStat(spot.path, stats), version: await versionOf(spot.found.handle, stats, path) };
}

/** With what there is to remember of it. */
export type HeldFile = CurrentFile & FileState;

/** `path` is where it is, `written` what the caller calls it. */
export async function readCurrent({ handle, stats }: Found, path: string, written: string): Promise<HeldFile> {
  const stat = { ...toStat(path, stats), mode: stats.mode & 0o777 };
  if (stats.size > maxWholeBytes) {
    const content = () => {
      throw tooLarge(written, stats.size, maxWholeBytes);
    };
    return { ...stat, version: await versionOf(handle, stats, written), content };
  }
  const bytes = readIfSmall(handle, stats.size) ?? (await readWhole(handle, maxWholeBytes, written));
  return { ...stat, version: sha256(bytes), bytes, content: () => bytes };
}

/** `undefined` where nothing is, or no directory for it. */
export function walkIfThere(root: Root, path: string): Spot | undefined {
  return ifThere(() => walk(root, path, { follow: true }));
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Equal only for equal bytes; for a file too large to hash, for one that nobody touched. */
export async function versionOf(place: number, stats: Stats, path: string): Promise<string> {
  if (stats.size > maxWholeBytes) return versionByStat(stats);
  const bytes = readIfSmall(place, stats.size);
  return bytes ? sha256(bytes) : hashWhole(place, path);
}

export function versionByStat({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `stat-${ino}-${size}-${mtimeMs}-${ctimeMs}`;
}

export function openForReading(root: Root, path: string): OpenFile {
  using spot = find(root, path);
  const stats = regularFile(spot, path);
  const handle = reopen(spot.found?.handle ?? -1);
  return {
    stat: toStat(spot.path, stats),
    chunks: ({ start, end } = { start: 0, end: Number.POSITIVE_INFINITY }) => chunksOf(handle, start, end),
    async [Symbol.asyncDispose]() {
      closeSync(handle);
    },
  };
}

async function* chunksOf(handle: number, start: number, end: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(chunkBytes, end - start)));
  for (let position = start; position < end; ) {
    const { bytesRead } = await readChunk(handle, chunk, 0, Math.min(chunk.length, end - position), position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

function regularFile({ found }: Sight, path: string): Stats {
  if (!found) throw missing(path);
  return mustBeFile(found.stats, path);
}

/** Opening a pipe or a device could wait for ever or do something. */
export function mustBeFile(stats: Stats, path: string): Stats {
  if (stats.isDirectory()) throw new AppError('E_NOT_A_FILE', `path is a directory: ${path}`, { details: { path } });
  if (!stats.isFile()) throw new AppError('E_NOT_A_FILE', `not a regular file: ${path}`, { details: { path } });
  return stats;
}

export function toStat(path: string, stats: Stats): FileStat {
  return { path, kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
}

/** Without waiting. `undefined` for a file that is too large for that. */
function readIfSmall(place: number, size: number): Buffer | undefined {
  if (size === 0 || size > maxSyncBytes) return undefined;
  const handle = reopen(place);
  try {
    return readAtOnce(handle, size);
  } finally {
    closeSync(handle);
  }
}

async function readWhole(place: number, maxBytes: number, path: string): Promise<Buffer> {
  const handle = reopen(place);
  try {
    return await readBounded(handle, maxBytes, path);
  } finally {
    closeSync(handle);
  }
}

/** Of any size that is hashed, without holding more than a piece of it. */
async function hashWhole(place: number, path: string): Promise<string> {
  const handle = reopen(place);
  try {
    const hash = createHash('sha256');
    let total = 0;
    for await (const chunk of chunksOf(handle, 0, maxWholeBytes + 1)) {
      total += chunk.length;
      hash.update(chunk);
    }
    if (total > maxWholeBytes) throw tooLarge(path, total, maxWholeBytes);
    return hash.digest('hex');
  } finally {
    closeSync(handle);
  }
}

/** `undefined` for a file that has grown since its stat. */
function readAtOnce(handle: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size + 1);
  const length = readSync(handle, bytes, 0, size + 1, 0);
  return length <= size ? bytes.subarray(0, length) : undefined;
}

/** Stops at the limit however large the file grew since its stat. */
async function readBounded(handle: number, maxBytes: number, path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = await readChunk(handle, chunk, 0, chunkBytes, total).catch((thrown) => {
      throw fileError(thrown, path);
    });
    if (bytesRead === 0) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(path, total, maxBytes);
    chunks.push(chunk.subarray(0, bytesRead));
  }
}

function tooLarge(path: string, size: number, max: number): AppError {
  return new AppError('E_TOO_LARGE', `file is too large: ${path} (${size} bytes, at most ${max})`, {
    details: { path, size, max },
  });
}
