import { constants as access, accessSync, renameSync, unlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { AppError, type ErrorCode } from '@croft/protocol';
import type { ChangeOptions, FileKind } from '../../core/files/files.ts';
import { fileNotFound } from '../../core/files/path-errors.ts';
import { toSegments } from '../../core/files/workspace-path.ts';
import { mustNotBeControlFile } from '../control-files/control-file-guard.ts';
import { treeMustHaveNoControlFile } from '../control-files/must-have-no-control-files.ts';
import { withDirectoryLocks } from '../durable/directory-locks.ts';
import { alreadyExists, linkIfFree } from '../durable/link-if-free.ts';
import { openToSync, type WritableRoot } from '../durable/sync-directory.ts';
import { fileError } from '../paths/file-errors.ts';
import { at, kindOf } from '../paths/handles.ts';
import { type Addon, addon } from '../paths/native-addon.ts';
import { type ResolvedPath, type WorkspaceRoot, walk } from '../paths/walk.ts';

export async function renameEntry(
  root: WritableRoot,
  from: string,
  to: string,
  { allow }: ChangeOptions = {},
): Promise<{ from: string; to: string; kind: FileKind }> {
  using source = walk(root, from, { follow: false });
  if (!source.found) throw fileNotFound(from);
  if (source.path === '') throw new AppError('E_INVALID_INPUT', 'the workspace root cannot be moved');
  const kind = kindOf(source.found.stats);

  // A person cannot approve a move for once: the content of its source may change before the move.
  const named = { names: allow?.names };
  await mustNotBeControlFile(root, source.path, allow);
  const entry = { parent: source.directoryFd, name: source.name, path: source.path };
  if (kind === 'directory') await treeMustHaveNoControlFile(root, entry, { allow: named });

  // Checked before any missing parent of the target is created.
  const written = toSegments(to, root.names);
  checkOutside(source.path, resolveExistingPart(root, written), { from, to });
  await mustNotBeControlFile(root, written.join('/'), named);
  using target = resolveFreeTarget(root, { from, to, kind });
  if (target.path !== written.join('/')) await mustNotBeControlFile(root, target.path, named);

  // Opened before anything is moved: a move that cannot be made durable is not started.
  using targetSync = reportingPath(to, () => openToSync(target.directoryFd, root.durability));
  using sourceSync = openToSync(source.directoryFd, root.durability);
  // Without the lock, another process could give the old name new content between the link and the unlink.
  const directories = () => [source.directoryFd, target.directoryFd];
  await withDirectoryLocks(from, directories, () => moveWithoutReplacing(source, target, kind, to));
  await targetSync.sync();
  if (source.directoryFd !== target.directoryFd) await sourceSync.sync();
  return { from: source.path, to: target.path, kind };
}

interface MoveNames {
  readonly from: string;
  readonly to: string;
  readonly kind: FileKind;
}

/** Resolves the target, which must be free, and creates its missing parents. */
function resolveFreeTarget(root: WorkspaceRoot, { from, to, kind }: MoveNames): ResolvedPath {
  if (to.endsWith('/') && kind !== 'directory') throw intoDirectory('E_NOT_A_FILE', to, from);
  const target = reportingPath(to, () => walk(root, to, { follow: false, create: true }));
  if (!target.found) return target;
  using taken = target;
  throw taken.found?.stats.isDirectory() ? intoDirectory('E_ALREADY_EXISTS', to, from) : alreadyExists(to);
}

/** A rename of a directory replaces an empty directory at most. */
function moveWithoutReplacing(source: ResolvedPath, target: ResolvedPath, kind: FileKind, to: string): void {
  if (addon && kind !== 'directory') moveInOneStep(addon, source, target, to);
  else moveByLink(source, target, kind, to);
}

/** If the process is killed, exactly one of the names is left. */
function moveInOneStep({ moveIfFree }: Addon, source: ResolvedPath, target: ResolvedPath, to: string): void {
  const errno = moveIfFree(source.directoryFd, source.name, target.directoryFd, target.name);
  if (errno === constants.errno.EEXIST) throw alreadyExists(to);
  if (errno === 0) return;
  const code = getSystemErrorName(-errno);
  const thrown = Object.assign(new Error(`a file could not be moved: ${code}`), { code, syscall: 'rename' });
  throw isOfSource(code, target) ? thrown : fileError(thrown, to);
}

/** Whether the error concerns the source: for a rename the kernel does not say which name it refuses. */
function isOfSource(code: string, { directoryFd }: ResolvedPath): boolean {
  if (code === 'ENOENT') return true;
  try {
    accessSync(`/proc/self/fd/${directoryFd}`, access.W_OK | access.X_OK);
    return code === 'EACCES' || code === 'EPERM';
  } catch {
    return false;
  }
}

/** Without the addon: uses a hard link, which fails if the target exists. A directory cannot have one. */
function moveByLink(source: ResolvedPath, target: ResolvedPath, kind: FileKind, to: string): void {
  const [old, fresh] = [at(source.directoryFd, source.name), at(target.directoryFd, target.name)];
  if (kind === 'directory' || !reportingPath(to, () => linkIfFree(old, fresh, to))) renameSync(old, fresh);
  else dropName(old, fresh);
}

/** Removes the old name. If that fails, removes the new one, so that the file does not have two names. */
function dropName(old: string, fresh: string): void {
  try {
    unlinkSync(old);
  } catch (thrown) {
    unlinkSync(fresh);
    throw thrown;
  }
}

/** Runs `work` and reports its errors for `path`: of two paths, the one that failed. */
function reportingPath<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}

/** Tells a caller who means "into the directory" how to say so, before they delete it to make the name free. */
function intoDirectory(code: ErrorCode, path: string, from: string): AppError {
  const inside = `${path.replace(/\/+$/, '')}/${from.replace(/\/+$/, '').split('/').at(-1)}`;
  return new AppError(code, `path names a directory: ${path}; to move it in there, name it: ${inside}`, {
    details: { path },
  });
}

/** Resolves the existing part of a path. */
function resolveExistingPart(root: WorkspaceRoot, segments: readonly string[]): string {
  for (let length = segments.length - 1; length > 0; length--) {
    try {
      using resolved = walk(root, segments.slice(0, length).join('/'), { follow: true });
      if (resolved.found) return resolved.path;
    } catch (thrown) {
      if (!(AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND')) throw thrown;
    }
  }
  return '';
}

function checkOutside(source: string, target: string, { from, to }: { from: string; to: string }): void {
  if (!`${target}/`.startsWith(`${source}/`)) return;
  throw new AppError('E_INVALID_INPUT', `cannot move ${from} into itself`, { details: { from, to } });
}
