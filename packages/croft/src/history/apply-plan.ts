import { setImmediate } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { findControlPath, gitNames } from '../core/commands/control-files.ts';
import type { RawName } from '../core/history/raw-names.ts';
import type { PathChange, TreeEntry, TreePath } from '../core/history/tree.ts';
import { errnoOf, fileError } from '../disk/errors.ts';
import { mustBeFree } from '../disk/held.ts';
import { namesOf } from './amend-tree.ts';
import type { Identity } from './tree-nodes.ts';

/** What is on the disk at a path, as it was checked. */
export interface Found {
  readonly entry: TreeEntry;
  readonly identity: Identity;
  readonly owner: { readonly uid: number; readonly gid: number };
}

export interface PlannedChange {
  readonly path: TreePath;
  readonly raw: RawName;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
  /** Set once it has been checked. */
  found?: Found | undefined;
}

export type Plan = ReadonlyMap<RawName, PlannedChange>;

/** Paths that no agent may change are left out, and answered. */
export function planChanges(
  changes: readonly PathChange[],
  root: { readonly handle: number; readonly names: readonly string[] },
): { plan: Plan; refused: TreePath[] } {
  const refused: TreePath[] = [];
  const plan = new Map<RawName, PlannedChange>();
  for (const { path, before, after } of changes) {
    const raw = namesOf(path).join('/');
    if (plan.has(raw)) throw new AppError('E_INVALID_INPUT', `changed twice: ${path}`, { details: { path } });
    if (isHeld(root, path)) refused.push(path);
    else plan.set(raw, { path, raw, before, after });
  }
  return { plan, refused };
}

function isHeld(root: { readonly handle: number; readonly names: readonly string[] }, path: TreePath): boolean {
  // What is there cannot be asked for by a name that is no text, so that it counts as being there.
  if (!path.isWellFormed())
    return findControlPath(path) !== undefined || path.split('/').some((name) => gitNames.has(name));
  try {
    mustBeFree(root, path);
    return false;
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_CONTROL_FILE') return true;
    throw thrown;
  }
}

/** What is suddenly there, gone or something else was changed by somebody while we looked. */
const raced = new Set(['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ELOOP']);

/** Others get their turn after so many. */
const pathsPerTurn = 32;
let paths = 0;

/** What the kernel refuses is told by the path it was done for. */
export async function forPath<T>(path: TreePath, work: () => T | Promise<T>): Promise<T> {
  if (++paths % pathsPerTurn === 0) await setImmediate();
  try {
    return await work();
  } catch (thrown) {
    if (AppError.is(thrown) || !(thrown instanceof Error && 'syscall' in thrown)) throw thrown;
    throw raced.has(errnoOf(thrown) ?? '') ? conflict([path]) : fileError(thrown, path);
  }
}

export function conflict(paths: readonly TreePath[]): AppError {
  const named = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '');
  return new AppError('E_CONFLICT', `changed by somebody else meanwhile: ${named}`, { details: { paths } });
}
