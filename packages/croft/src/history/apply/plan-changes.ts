import { setImmediate } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { PathChange, TreeEntry, TreePath } from '../../core/history/ports/tree.ts';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import type { GuardedRoot } from '../../disk/control-files/control-file-guard.ts';
import { withDirectoryLocks } from '../../disk/durable/directory-locks.ts';
import { errnoOf, fileError } from '../../disk/paths/file-errors.ts';
import { type DirectoryFds, parentOf } from '../files/directory-fds.ts';
import { splitTreePath } from '../tree/amend-tree.ts';
import type { FileIdentity } from '../tree/tree-nodes.ts';
import { findGuardedChanges } from './find-guarded-changes.ts';

/** The entry on the disk at a path, as it was when `verifyChanges` checked it. */
export interface VerifiedEntry {
  readonly entry: TreeEntry;
  readonly identity: FileIdentity;
  readonly owner: { readonly uid: number; readonly gid: number };
}

export interface PlannedChange {
  readonly path: TreePath;
  readonly raw: RawName;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
  /** Set by `verifyChanges`, if something is there. */
  found?: VerifiedEntry | undefined;
}

export type ApplyPlan = ReadonlyMap<RawName, PlannedChange>;

/** Plans the changes. Control files are left out and returned as `refused`. */
export async function planChanges(
  changes: readonly PathChange[],
  root: GuardedRoot | 'unguarded',
): Promise<{ plan: ApplyPlan; refused: TreePath[] }> {
  const guarded = root === 'unguarded' ? new Set<TreePath>() : await findGuardedChanges(root, changes);
  const refused: TreePath[] = [];
  const plan = new Map<RawName, PlannedChange>();
  for (const { path, before, after } of changes) {
    const raw = splitTreePath(path).join('/');
    if (plan.has(raw)) throw new AppError('E_INVALID_INPUT', `changed twice: ${path}`, { details: { path } });
    if (guarded.has(path)) refused.push(path);
    else plan.set(raw, { path, raw, before, after });
  }
  return { plan, refused };
}

/** Error codes that mean that somebody changed the path meanwhile. */
const raced = new Set(['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ELOOP']);

/** Other work gets a turn after this many paths. */
const pathsPerTurn = 32;
let paths = 0;

/** Runs `work` and turns an error of the kernel into one that names the path. */
export async function forPath<T>(path: TreePath, work: () => T | Promise<T>): Promise<T> {
  if (++paths % pathsPerTurn === 0) await setImmediate();
  try {
    return await work();
  } catch (thrown) {
    if (AppError.is(thrown) || !(thrown instanceof Error && 'syscall' in thrown)) throw thrown;
    throw raced.has(errnoOf(thrown) ?? '') ? changedBySomebodyElse([path]) : fileError(thrown, path);
  }
}

/** As `forPath`, under the name lock of the directory: no other Croft process acts between the check and the change. */
export function changingLocked<T>({ path, raw }: PlannedChange, handles: DirectoryFds, work: () => T): Promise<T> {
  return forPath(path, () => withDirectoryLocks(path, () => [handles.fdOf(parentOf(raw))], work));
}

export function changedBySomebodyElse(paths: readonly TreePath[]): AppError {
  const named = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '');
  return new AppError('E_CONFLICT', `changed by somebody else meanwhile: ${named}`, { details: { paths } });
}
