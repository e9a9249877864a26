import { closeSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { RemovedPath, RemoveOptions } from '../../core/files/files.ts';
import { fileNotFound } from '../../core/files/path-errors.ts';
import { isSyncedControlFile } from '../../core/skills/skill-directories.ts';
import { mustNotBeControlFile } from '../control-files/control-file-guard.ts';
import { treeMustHaveNoControlFile } from '../control-files/must-have-no-control-files.ts';
import { withDirectoryLocks } from '../durable/directory-locks.ts';
import { openToSync, type WritableRoot } from '../durable/sync-directory.ts';
import { errnoOf } from '../paths/file-errors.ts';
import { at, kindOf, namesIn, openDirectory } from '../paths/handles.ts';
import { walk } from '../paths/walk.ts';

/** Each level holds an open handle. */
const maxDepth = 1000;
const entriesPerTurn = 256;

export async function removeEntry(root: WritableRoot, path: string, options: RemoveOptions): Promise<RemovedPath> {
  const { recursive, signal, isSynced = false, allow } = options;
  using resolved = walk(root, path, { follow: false });
  if (!resolved.found) throw fileNotFound(path);
  if (resolved.path === '') throw new AppError('E_INVALID_INPUT', 'the workspace root cannot be deleted');

  const kind = kindOf(resolved.found.stats);
  if (!(isSynced && isSyncedControlFile(resolved.path))) await mustNotBeControlFile(root, resolved.path, allow);
  if (kind === 'directory')
    await treeMustHaveNoControlFile(
      root,
      { parent: resolved.directoryFd, name: resolved.name, path: resolved.path },
      { allow, signal },
    );
  // Opened before anything is removed: a removal that cannot be made durable is not started.
  using directorySync = openToSync(resolved.directoryFd, root.durability);
  let removed = 1;
  const unlink = () => unlinkSync(at(resolved.directoryFd, resolved.name));
  if (kind !== 'directory') await withDirectoryLocks(path, () => [resolved.directoryFd], unlink);
  else if (recursive) removed = await createTreeRemover(signal)(resolved.directoryFd, resolved.name);
  else rmdirSync(at(resolved.directoryFd, resolved.name));
  await directorySync.sync();
  return { path: resolved.path, kind, removed };
}

/**
 * Removes a tree by handles and never follows a link, so that replacing a directory underneath cannot lead it
 * elsewhere.
 */
function createTreeRemover(signal: AbortSignal) {
  let removed = 0;

  return async function removeTree(parent: number, name: string | Buffer, depth = 0): Promise<number> {
    if (depth > maxDepth)
      throw new AppError('E_TOO_LARGE', `the tree is more than ${maxDepth} directories deep`, {
        hint: 'A part of it may be deleted. Delete the rest with a command: rm -r.',
      });
    const directoryFd = openDirectory(parent, name);
    try {
      for await (const child of namesIn(directoryFd)) {
        if (!removeLeaf(directoryFd, child)) await removeTree(directoryFd, child, depth + 1);
        else if (++removed % entriesPerTurn === 0) await setImmediate();
        signal.throwIfAborted();
      }
    } finally {
      closeSync(directoryFd);
    }
    rmdirSync(at(parent, name));
    removed += 1;
    return removed;
  };
}

/** Removes a file or link. Returns false for a directory. */
function removeLeaf(directoryFd: number, name: Buffer): boolean {
  try {
    unlinkSync(at(directoryFd, name));
    return true;
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno === 'ENOENT') return true;
    if (errno === 'EISDIR') return false;
    // Some file systems return EPERM for a directory; any returns it for a file that may not be removed.
    if (errno === 'EPERM' && lstatSync(at(directoryFd, name)).isDirectory()) return false;
    throw thrown;
  }
}
