import { canonicalNames } from '../../core/control-files/canonical-name.ts';
import { gitMarks } from '../../core/control-files/control-file-names.ts';
import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { statOf } from '../paths/handles.ts';
import type { WorkspaceRoot } from '../paths/walk.ts';

/** One lock per directory, for all callers, under whatever name they opened it. */
const locks = createKeyedLock();

/**
 * Serialises changes that add a file by which git recognises its directories: of two at once, each would find the
 * other's file missing, and together they would make a git directory.
 */
export async function serializeGitChanges<T>(
  root: WorkspaceRoot,
  paths: Iterable<string>,
  work: () => Promise<T>,
): Promise<T> {
  if (!hasMark(paths)) return work();
  const { dev, ino } = statOf(root.handle);
  return locks.run(`${dev}:${ino}`, work);
}

function hasMark(paths: Iterable<string>): boolean {
  for (const path of paths) if (canonicalNames(path).some((name) => gitMarks.has(name))) return true;
  return false;
}
