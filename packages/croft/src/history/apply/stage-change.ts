import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsync,
  lchownSync,
  openSync,
  symlinkSync,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { TreeEntry } from '../../core/history/ports/tree.ts';
import type { TreeApplyOptions } from '../../core/history/ports/working-tree.ts';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { newTemporaryName } from '../../disk/durable/temporary-file-names.ts';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { giveTo } from '../../disk/paths/give-to-directory-owner.ts';
import { at, statOf } from '../../disk/paths/handles.ts';
import { type DirectoryFds, parentOf } from '../files/directory-fds.ts';
import type { PlannedChange } from './plan-changes.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const writeChunk = promisify(write);
const sync = promisify(fsync);
const maxTargetBytes = 4096;
const maxSyncBytes = 256 * 1024;
const isRoot = process.getuid?.() === 0;

/** A new file or link under a temporary name that listings hide, in the nearest existing directory. */
export interface StagedFile {
  readonly change: PlannedChange;
  readonly directory: RawName;
  readonly name: string;
}

interface StageDependencies {
  readonly handles: DirectoryFds;
  readonly store: HistoryStore;
  readonly options: TreeApplyOptions;
  /** Hashes of contents that the store does not have. */
  readonly lacking: ReadonlySet<string>;
  /** Whether each file is fsynced on its own. Otherwise the caller syncs the whole file system. */
  readonly syncsEach: boolean;
}

export async function stageChange(change: PlannedChange, dependencies: StageDependencies): Promise<StagedFile> {
  const { after } = change;
  const staged = {
    change,
    directory: nearestDirectory(dependencies.handles, parentOf(change.raw)),
    name: newTemporaryName(),
  };
  const directoryFd = dependencies.handles.fdOf(staged.directory);
  const owner = change.found?.owner ?? statOf(directoryFd);
  if (after?.kind === 'link') {
    // Reads the target first: a descriptor from `handles` is valid only until the next await.
    const target = await wholeOf(after, change, dependencies);
    makeLink(dependencies.handles.fdOf(staged.directory), staged.name, target, owner);
  } else if (after) {
    const fd = openSync(at(directoryFd, staged.name), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    await fill(fd, after, owner, contentOf(after, change, dependencies), dependencies.syncsEach).catch((thrown) => {
      discardStaged(staged, dependencies.handles);
      throw thrown;
    });
  }
  return staged;
}

export function discardStaged({ directory, name }: StagedFile, handles: DirectoryFds): void {
  try {
    unlinkSync(at(handles.fdOf(directory), name));
  } catch {
    // The file is already in place, or its directory is gone. The caller throws the error that led here.
  }
}

/** Fsyncs a staged file. A file is put in place only after it, or the whole file system, is synced. */
export async function syncStaged({ change, directory, name }: StagedFile, handles: DirectoryFds): Promise<void> {
  if (change.after?.kind !== 'file') return;
  // Somebody may have put a pipe there. `O_NONBLOCK` keeps the open from waiting for it.
  const handle = openSync(at(handles.fdOf(directory), name), O_NOFOLLOW | O_NONBLOCK);
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}

async function fill(
  handle: number,
  { mode, hash, size }: TreeEntry,
  owner: { uid: number; gid: number },
  pieces: AsyncIterable<Buffer>,
  syncsEach: boolean,
): Promise<void> {
  try {
    giveTo(handle, owner);
    const hasher = createHash('sha256');
    for await (const piece of pieces) {
      hasher.update(piece);
      await writeAll(handle, piece);
    }
    if (hasher.digest('hex') !== hash) throw unfit(hash, size);
    fchmodSync(handle, mode & 0o777);
    if (syncsEach) await sync(handle);
  } finally {
    closeSync(handle);
  }
}

async function writeAll(handle: number, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    // A small write to the page cache takes less time than handing it to a thread.
    const isSmall = bytes.byteLength - offset <= maxSyncBytes;
    offset += isSmall ? writeSync(handle, bytes, offset) : (await writeChunk(handle, bytes, offset)).bytesWritten;
  }
}

function makeLink(directoryFd: number, name: string, target: Buffer, owner: { uid: number; gid: number }): void {
  const linkPath = at(directoryFd, name);
  symlinkSync(target, linkPath);
  if (isRoot && (owner.uid !== 0 || owner.gid !== 0)) lchownSync(linkPath, owner.uid, owner.gid);
}

async function wholeOf(entry: TreeEntry, change: PlannedChange, dependencies: StageDependencies): Promise<Buffer> {
  if (entry.size > maxTargetBytes) throw unfit(entry.hash, entry.size);
  return Buffer.concat(await Array.fromAsync(contentOf(entry, change, dependencies)));
}

async function* contentOf(
  entry: TreeEntry,
  { path }: PlannedChange,
  dependencies: StageDependencies,
): AsyncGenerator<Buffer> {
  const { store, options, lacking } = dependencies;
  if (entry.size === 0) return;
  if (options.read && lacking.has(entry.hash)) yield* options.read(entry, path);
  else yield* store.open(entry.hash);
}

function nearestDirectory(handles: DirectoryFds, path: RawName): RawName {
  for (let here = path; here !== ''; here = parentOf(here)) {
    try {
      handles.fdOf(here);
      return here;
    } catch (thrown) {
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) throw thrown;
    }
  }
  return '';
}

function unfit(hash: string, size: number): AppError {
  const message = `the content ${hash.slice(0, 12)} (${size} bytes) does not match its hash; nothing was changed`;
  return new AppError('E_STORAGE_FAILED', message, { details: { hash } });
}
