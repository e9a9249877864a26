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
import type { RawName } from '../core/history/raw-names.ts';
import type { HistoryStore } from '../core/history/store.ts';
import type { TreeEntry } from '../core/history/tree.ts';
import type { ApplyOptions } from '../core/history/working-tree.ts';
import { errnoOf } from '../disk/errors.ts';
import { at, statOf } from '../disk/handles.ts';
import { giveTo } from '../disk/ownership.ts';
import { newTemporaryName } from '../disk/temporary.ts';
import type { PlannedChange } from './apply-plan.ts';
import { type PathHandles, parentOf } from './path-handles.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const writeChunk = promisify(write);
const sync = promisify(fsync);
const maxTargetBytes = 4096;
const maxSyncBytes = 256 * 1024;
const isRoot = process.getuid?.() === 0;

/** A new file or link under a name that nobody shows, in the nearest directory that is there. */
export interface Staged {
  readonly change: PlannedChange;
  readonly directory: RawName;
  readonly name: string;
}

export interface StageMeans {
  readonly handles: PathHandles;
  readonly store: HistoryStore;
  readonly options: ApplyOptions;
  /** What the store does not have. */
  readonly lacking: ReadonlySet<string>;
  /** Whether each is synced on its own. */
  readonly syncsEach: boolean;
}

export async function stage(change: PlannedChange, means: StageMeans): Promise<Staged> {
  const { after } = change;
  const staged = { change, directory: nearest(means.handles, parentOf(change.raw)), name: newTemporaryName() };
  const directory = means.handles.handleOf(staged.directory);
  const owner = change.found?.owner ?? statOf(directory);
  if (after?.kind === 'link') {
    // Read first: the handle is good only until we wait.
    const target = await wholeOf(after, change, means);
    makeLink(means.handles.handleOf(staged.directory), staged.name, target, owner);
  } else if (after) {
    const handle = openSync(at(directory, staged.name), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    await fill(handle, after, owner, contentOf(after, change, means), means.syncsEach).catch((thrown) => {
      discard(staged, means.handles);
      throw thrown;
    });
  }
  return staged;
}

export function discard({ directory, name }: Staged, handles: PathHandles): void {
  try {
    unlinkSync(at(handles.handleOf(directory), name));
  } catch {
    // It has its place by now, or its directory is gone; the failure that brought us here is the one to tell.
  }
}

/** Not before each is synced, or all are, may it have its place. */
export async function syncStaged({ change, directory, name }: Staged, handles: PathHandles): Promise<void> {
  if (change.after?.kind !== 'file') return;
  // Somebody may have put a pipe there, which nobody must wait for.
  const handle = openSync(at(handles.handleOf(directory), name), O_NOFOLLOW | O_NONBLOCK);
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
    // To the page cache a little takes less time than handing it to a thread.
    const isSmall = bytes.byteLength - offset <= maxSyncBytes;
    offset += isSmall ? writeSync(handle, bytes, offset) : (await writeChunk(handle, bytes, offset)).bytesWritten;
  }
}

function makeLink(directory: number, name: string, target: Buffer, owner: { uid: number; gid: number }): void {
  const place = at(directory, name);
  symlinkSync(target, place);
  if (isRoot && (owner.uid !== 0 || owner.gid !== 0)) lchownSync(place, owner.uid, owner.gid);
}

async function wholeOf(entry: TreeEntry, change: PlannedChange, means: StageMeans): Promise<Buffer> {
  if (entry.size > maxTargetBytes) throw unfit(entry.hash, entry.size);
  return Buffer.concat(await Array.fromAsync(contentOf(entry, change, means)));
}

async function* contentOf(entry: TreeEntry, { path }: PlannedChange, means: StageMeans): AsyncGenerator<Buffer> {
  const { store, options, lacking } = means;
  if (entry.size === 0) return;
  if (options.read && lacking.has(entry.hash)) yield* options.read(entry, path);
  else yield* store.open(entry.hash);
}

function nearest(handles: PathHandles, path: RawName): RawName {
  for (let here = path; here !== ''; here = parentOf(here)) {
    try {
      handles.handleOf(here);
      return here;
    } catch (thrown) {
      if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) throw thrown;
    }
  }
  return '';
}

function unfit(hash: string, size: number): AppError {
  const message = `the content ${hash.slice(0, 12)} (${size} bytes) came out as something else; nothing was changed`;
  return new AppError('E_STORAGE_FAILED', message, { details: { hash } });
}
