import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readlinkSync,
  type Stats,
  symlinkSync,
} from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { at, kindOf, openDirectory, statOf } from '../../disk/paths/handles.ts';
import { copyLargeFile } from './copy-large-file.ts';
import { readNames } from './directory-entries.ts';

export interface CopyOptions {
  /** Throws `E_QUOTA` if the copy would be larger. Without it, the disk is the limit. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const { COPYFILE_EXCL, COPYFILE_FICLONE, O_NOFOLLOW } = constants;
const O_PATH = 0o10000000;
const isRoot = process.getuid?.() === 0;
/**
 * Calls that hit the page cache are far quicker made directly than on threads. Other work gets a turn after this time.
 */
const sliceMs = 5;
const maxDepth = 500;
/** Larger files are copied in pieces, so that other work gets turns. */
const maxNowBytes = 4 * 1024 * 1024;

/**
 * Copies the entries of an open directory into an empty directory, with owners, modes, links and times. Shares blocks
 * where the file system can. The tree may be hostile and may change meanwhile: it is walked by descriptors and no link
 * is followed. Only files, links and directories are copied.
 */
export async function copyTree(from: number, to: string, options: CopyOptions = {}): Promise<void> {
  await createCopying(options).fill(from, Buffer.from(to), 0);
}

/**
 * Copies one entry of an open directory to a new path. Skips an entry that is gone, or that is no file, link or
 * directory.
 */
export async function copyEntry(from: number, name: Buffer, to: Buffer): Promise<void> {
  await createCopying({}).copyOne(from, name, { to, depth: 0 }).catch(ignoreGone);
}

function createCopying({ maxBytes = Number.POSITIVE_INFINITY, signal }: CopyOptions) {
  let bytes = 0;
  let since = performance.now();

  async function fill(from: number, to: Buffer, depth: number): Promise<void> {
    if (depth > maxDepth)
      throw new AppError('E_TOO_LARGE', `directories are nested more than ${maxDepth} deep`, {
        hint: 'No copy was made. Delete the deep directories first, or copy what is needed with a command.',
      });
    for (const name of readNames(from)) {
      await takeTurns();
      await copyOne(from, name, { to: below(to, name), depth }).catch(ignoreGone);
    }
    copyTraits(to, statOf(from));
  }

  async function copyOne(from: number, name: Buffer, { to, depth }: { to: Buffer; depth: number }): Promise<void> {
    const stats = lstatSync(at(from, name));
    const kind = kindOf(stats);
    if (kind === 'directory') return copyDirectory(openDirectory(from, name), to, depth + 1);
    if (kind === 'file') return copyContent(openSync(at(from, name), O_PATH | O_NOFOLLOW), to);
    if (kind !== 'link') return;
    symlinkSync(readlinkSync(at(from, name), { encoding: 'buffer' }), to);
    copyTraits(to, stats);
  }

  async function copyDirectory(from: number, to: Buffer, depth: number): Promise<void> {
    try {
      // The directory gets its own mode once it is filled: that mode may not allow writing.
      mkdirSync(to, { mode: 0o700 });
      await fill(from, to, depth);
    } finally {
      closeSync(from);
    }
  }

  async function copyContent(from: number, to: Buffer): Promise<void> {
    try {
      const stats = statOf(from);
      if (!stats.isFile()) return;
      bytes += stats.size;
      if (bytes > maxBytes) throw new AppError('E_QUOTA', `a copy of this workspace takes more than ${maxBytes} bytes`);
      if (stats.size > maxNowBytes) await copyLargeFile(from, to, stats.size, signal);
      else copyFileSync(`/proc/self/fd/${from}`, to, COPYFILE_EXCL | COPYFILE_FICLONE);
      copyTraits(to, stats);
    } finally {
      closeSync(from);
    }
  }

  async function takeTurns(): Promise<void> {
    if (performance.now() - since < sliceMs) return;
    signal?.throwIfAborted();
    await breathe();
    since = performance.now();
  }

  return { fill, copyOne };
}

/** Ignores errors of entries that vanish during the copy, as if they had been removed before. */
export function ignoreGone(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== 'ENOENT' && thrown.code !== 'ENOTDIR' && thrown.code !== 'ELOOP') throw thrown;
}

/** Copies owner, mode and times. The owner comes first: changing it clears bits of the mode. */
export function copyTraits(path: string | Buffer, stats: Stats): void {
  if (isRoot) lchownSync(path, stats.uid, stats.gid);
  if (!stats.isSymbolicLink()) chmodSync(path, stats.mode & 0o7777);
  lutimesSync(path, stats.atimeMs / 1000, stats.mtimeMs / 1000);
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name]);
}
