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
import { at, kindOf, openDirectory, statOf } from '../disk/handles.ts';
import { copyLarge } from './copy-large.ts';
import { namesNow } from './layer-entries.ts';

export interface CopyOptions {
  /** Throws `E_QUOTA` when it would be more. Left out: whatever there is room for. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const { COPYFILE_EXCL, COPYFILE_FICLONE, O_NOFOLLOW } = constants;
const O_PATH = 0o10000000;
const isRoot = process.getuid?.() === 0;
/** Calls that wait for a disk cache are far quicker one by one than handed to threads; others get their turn in between. */
const sliceMs = 5;
const maxDepth = 500;
/** Larger ones are copied while others have their turn. */
const maxNowBytes = 4 * 1024 * 1024;

/**
 * What is in an open directory into an empty one of ours, with owners, modes, links and times. Shares blocks where the file
 * system can. The tree may be hostile and may change meanwhile: it is walked by handles and nothing is followed. What is
 * neither file, link nor directory is left out.
 */
export async function copyTree(from: number, to: string, options: CopyOptions = {}): Promise<void> {
  await createCopying(options).fill(from, Buffer.from(to), 0);
}

/** One name of an open directory to a path of ours where nothing is. What is not there, or nothing to copy, is left out. */
export async function copyEntry(from: number, name: Buffer, to: Buffer): Promise<void> {
  await createCopying({}).copyOne(from, name, { to, depth: 0 }).catch(unlessGone);
}

function createCopying({ maxBytes = Number.POSITIVE_INFINITY, signal }: CopyOptions) {
  let bytes = 0;
  let since = performance.now();

  async function fill(from: number, to: Buffer, depth: number): Promise<void> {
    if (depth > maxDepth) throw new AppError('E_TOO_LARGE', `directories are nested more than ${maxDepth} deep`);
    for (const name of namesNow(from)) {
      await takeTurns();
      await copyOne(from, name, { to: below(to, name), depth }).catch(unlessGone);
    }
    keepTraits(to, statOf(from));
  }

  async function copyOne(from: number, name: Buffer, { to, depth }: { to: Buffer; depth: number }): Promise<void> {
    const stats = lstatSync(at(from, name));
    const kind = kindOf(stats);
    if (kind === 'directory') return copyDirectory(openDirectory(from, name), to, depth + 1);
    if (kind === 'file') return copyContent(openSync(at(from, name), O_PATH | O_NOFOLLOW), to);
    if (kind !== 'link') return;
    symlinkSync(readlinkSync(at(from, name), { encoding: 'buffer' }), to);
    keepTraits(to, stats);
  }

  async function copyDirectory(from: number, to: Buffer, depth: number): Promise<void> {
    try {
      // It has its mode once it is filled: one that may not be written to is.
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
      if (stats.size > maxNowBytes) await copyLarge(from, to, stats.size, signal);
      else copyFileSync(`/proc/self/fd/${from}`, to, COPYFILE_EXCL | COPYFILE_FICLONE);
      keepTraits(to, stats);
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

/** What goes away while a tree is copied is as if it had gone before. */
export function unlessGone(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== 'ENOENT' && thrown.code !== 'ENOTDIR' && thrown.code !== 'ELOOP') throw thrown;
}

/** The owner first: giving a file away takes bits off its mode. */
export function keepTraits(path: string | Buffer, stats: Stats): void {
  if (isRoot) lchownSync(path, stats.uid, stats.gid);
  if (!stats.isSymbolicLink()) chmodSync(path, stats.mode & 0o7777);
  lutimesSync(path, stats.atimeMs / 1000, stats.mtimeMs / 1000);
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name]);
}
