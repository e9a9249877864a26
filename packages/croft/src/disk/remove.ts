import { closeSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { Removal } from '../core/files.ts';
import { missing } from '../core/path-errors.ts';
import { isSyncedControl } from '../core/skills/places.ts';
import { errnoOf } from './errors.ts';
import { at, kindOf, namesIn, openDirectory } from './handles.ts';
import { mustBeFree, treeMustBeFree } from './held.ts';
import { openToSync, type WritableRoot } from './sync.ts';
import { walk } from './walk.ts';

/** Each level holds a handle. */
const maxDepth = 1000;
const entriesPerTurn = 256;

export interface RemoveOptions {
  readonly recursive: boolean;
  readonly signal: AbortSignal;
  readonly isSynced?: boolean | undefined;
}

export async function removeAt(root: WritableRoot, path: string, options: RemoveOptions): Promise<Removal> {
  const { recursive, signal, isSynced = false } = options;
  using spot = walk(root, path, { follow: false });
  if (!spot.found) throw missing(path);
  if (spot.path === '') throw new AppError('E_INVALID_INPUT', 'the workspace root cannot be deleted');

  const kind = kindOf(spot.found.stats);
  if (!(isSynced && isSyncedControl(spot.path))) mustBeFree(root, spot.path);
  if (kind === 'directory') await treeMustBeFree({ parent: spot.directory, name: spot.name, path: spot.path }, signal);
  // Before anything is gone: what cannot be made durable is not begun.
  using directory = openToSync(spot.directory, root.durability);
  let removed = 1;
  if (kind !== 'directory') unlinkSync(at(spot.directory, spot.name));
  else if (recursive) removed = await createTreeRemover(signal)(spot.directory, spot.name);
  else rmdirSync(at(spot.directory, spot.name));
  await directory.sync();
  return { path: spot.path, kind, removed };
}

/** Works by handles and never follows a link, so that a tree swapped underneath cannot lead it elsewhere. */
function createTreeRemover(signal: AbortSignal) {
  let removed = 0;

  return async function removeTree(parent: number, name: string | Buffer, depth = 0): Promise<number> {
    if (depth > maxDepth) throw new AppError('E_TOO_LARGE', `the tree is more than ${maxDepth} directories deep`);
    const directory = openDirectory(parent, name);
    try {
      for await (const child of namesIn(directory)) {
        if (!removeLeaf(directory, child)) await removeTree(directory, child, depth + 1);
        else if (++removed % entriesPerTurn === 0) await setImmediate();
        signal.throwIfAborted();
      }
    } finally {
      closeSync(directory);
    }
    rmdirSync(at(parent, name));
    removed += 1;
    return removed;
  };
}

/** False for a directory. */
function removeLeaf(directory: number, name: Buffer): boolean {
  try {
    unlinkSync(at(directory, name));
    return true;
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno === 'ENOENT') return true;
    if (errno === 'EISDIR') return false;
    // What others say of a directory, and any of a file that may not be removed.
    if (errno === 'EPERM' && lstatSync(at(directory, name)).isDirectory()) return false;
    throw thrown;
  }
}
