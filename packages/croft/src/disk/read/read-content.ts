import { createHash } from 'node:crypto';
import { closeSync, read as readInto, readSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '@croft/protocol';
import type { CurrentFile, FileContent, FileStat, FileState, FileVersion, OpenFile } from '../../core/files/files.ts';
import { fileNotFound, fileTooLarge } from '../../core/files/path-errors.ts';
import { sha256, sha256InTurns } from '../../lib/crypto/sha256.ts';
import { fileError } from '../paths/file-errors.ts';
import { kindOf, reopen } from '../paths/handles.ts';
import { type ReadablePath, resolvePath } from '../paths/resolve-path.ts';
import { type OpenedEntry, type ResolvedPath, type WorkspaceRoot, walk } from '../paths/walk.ts';

/** Larger files are not read as a whole: they cannot be edited, and their version comes from their stat. */
export const maxWholeBytes = 64 * 1024 * 1024;

/** A smaller read takes less time on this thread than handing it to another. */
const maxSyncBytes = 256 * 1024;
const chunkBytes = 1024 * 1024;

const readChunk = promisify(readInto);

export function readStat(root: WorkspaceRoot, path: string): FileStat {
  using resolved = resolvePath(root, path);
  if (!resolved.found) throw fileNotFound(path);
  return toStat(resolved.path, resolved.found.stats);
}

export async function readContent(root: WorkspaceRoot, path: string, maxBytes = maxWholeBytes): Promise<FileContent> {
  using resolved = resolvePath(root, path);
  const stats = regularFile(resolved, path);
  if (stats.size > maxBytes) throw fileTooLarge(path, stats.size, maxBytes);
  const pathFd = resolved.found?.handle ?? -1;
  // Synchronous, so that many simultaneous reads do not hold many handles.
  const small = readIfSmall(pathFd, stats.size);
  if (small) return { ...toStat(resolved.path, stats), bytes: small, version: sha256(small) };
  const bytes = await readWhole(pathFd, stats.size, maxBytes, path);
  return { ...toStat(resolved.path, stats), bytes, version: await sha256InTurns(bytes) };
}

export async function readVersion(root: WorkspaceRoot, path: string): Promise<FileVersion | undefined> {
  using resolved = ifExists(() => resolvePath(root, path));
  if (!resolved?.found) return undefined;
  const stats = regularFile(resolved, path);
  return { ...toStat(resolved.path, stats), version: await versionOf(resolved.found.handle, stats, path) };
}

/** The current file, with the state that history records. */
export type CurrentFileWithState = CurrentFile & FileState;

/** `path` is the resolved path, `written` the path as the caller wrote it. */
export async function readCurrent(
  { handle, stats }: OpenedEntry,
  path: string,
  written: string,
): Promise<CurrentFileWithState> {
  const stat = { ...toStat(path, stats), mode: stats.mode & 0o777 };
  if (stats.size > maxWholeBytes) {
    const content = () => {
      throw fileTooLarge(written, stats.size, maxWholeBytes);
    };
    return { ...stat, version: await versionOf(handle, stats, written), content };
  }
  const bytes = readIfSmall(handle, stats.size) ?? (await readWhole(handle, stats.size, maxWholeBytes, written));
  return { ...stat, version: await sha256InTurns(bytes), bytes, content: () => bytes };
}

/** `undefined` if the file or its directory does not exist. */
export function walkIfExists(root: WorkspaceRoot, path: string): ResolvedPath | undefined {
  return ifExists(() => walk(root, path, { follow: true }));
}

function ifExists<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** A version that is equal only for equal bytes; for a file too large to hash, only while nobody touched it. */
export async function versionOf(pathFd: number, stats: Stats, path: string): Promise<string> {
  if (stats.size > maxWholeBytes) return versionByStat(stats);
  const bytes = readIfSmall(pathFd, stats.size);
  return bytes ? sha256(bytes) : hashWhole(pathFd, path);
}

export function versionByStat({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `stat-${ino}-${size}-${mtimeMs}-${ctimeMs}`;
}

export function openForReading(root: WorkspaceRoot, path: string): OpenFile {
  using resolved = resolvePath(root, path);
  const stats = regularFile(resolved, path);
  const handle = reopen(resolved.found?.handle ?? -1);
  return {
    stat: toStat(resolved.path, stats),
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

function regularFile({ found }: ReadablePath, path: string): Stats {
  if (!found) throw fileNotFound(path);
  return mustBeFile(found.stats, path);
}

/** Rejects pipes and devices, because opening one could block or have a side effect. */
export function mustBeFile(stats: Stats, path: string): Stats {
  if (stats.isDirectory()) throw new AppError('E_NOT_A_FILE', `path is a directory: ${path}`, { details: { path } });
  if (!stats.isFile()) throw new AppError('E_NOT_A_FILE', `not a regular file: ${path}`, { details: { path } });
  return stats;
}

export function toStat(path: string, stats: Stats): FileStat {
  return { path, kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
}

/** Reads a small file synchronously. `undefined` for a larger one. */
function readIfSmall(pathFd: number, size: number): Buffer | undefined {
  if (size === 0 || size > maxSyncBytes) return undefined;
  const handle = reopen(pathFd);
  try {
    return readAtOnce(handle, size);
  } finally {
    closeSync(handle);
  }
}

async function readWhole(pathFd: number, size: number, maxBytes: number, path: string): Promise<Buffer> {
  const handle = reopen(pathFd);
  try {
    return await readBoundedBody(handle, size, maxBytes, path);
  } finally {
    closeSync(handle);
  }
}

/** Hashes a file piece by piece. */
async function hashWhole(pathFd: number, path: string): Promise<string> {
  const handle = reopen(pathFd);
  try {
    const hash = createHash('sha256');
    let total = 0;
    for await (const chunk of chunksOf(handle, 0, maxWholeBytes + 1)) {
      total += chunk.length;
      hash.update(chunk);
    }
    if (total > maxWholeBytes) throw fileTooLarge(path, total, maxWholeBytes);
    return hash.digest('hex');
  } finally {
    closeSync(handle);
  }
}

/** `undefined` if the file has grown since its stat. */
function readAtOnce(handle: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size + 1);
  const length = readSync(handle, bytes, 0, size + 1, 0);
  return length <= size ? bytes.subarray(0, length) : undefined;
}

/**
 * Reads at most `maxBytes`, even if the file has grown since its stat. The memory is shared, so that another thread can
 * use it without a copy. The reading threads touch it first: allocating many megabytes on this thread takes too long.
 */
async function readBoundedBody(handle: number, size: number, maxBytes: number, path: string): Promise<Buffer> {
  let bytes: Buffer = Buffer.from(new SharedArrayBuffer(Math.min(size, maxBytes) + 1));
  for (let total = 0; ; ) {
    const { bytesRead } = await readChunk(
      handle,
      bytes,
      total,
      Math.min(chunkBytes, bytes.length - total),
      total,
    ).catch((thrown) => {
      throw fileError(thrown, path);
    });
    total += bytesRead;
    if (bytesRead === 0) return bytes.subarray(0, total);
    if (total > maxBytes) throw fileTooLarge(path, total, maxBytes);
    if (total === bytes.length) bytes = grown(bytes, maxBytes);
  }
}

function grown(bytes: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.from(new SharedArrayBuffer(Math.min(2 * bytes.length, maxBytes + 1)));
  larger.set(bytes);
  return larger;
}
