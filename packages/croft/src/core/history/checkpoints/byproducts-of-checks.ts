import type { PathChange, TreePath } from '../ports/tree.ts';
import { isSameAtPath } from '../trees/carry-out-plan.ts';

/** Paths beyond this number are not remembered; a change of one then counts as a change of a project file. */
const maxRemembered = 20_000;

/** Remembers the paths that checks made. A later write to such a path is no change of the project's own files. */
export function createByproductsOfChecks() {
  const made = new Set<TreePath>();
  return {
    /**
     * Splits the changes made during a check: `altered` existed before and was not made by a check, `added` is the
     * rest.
     */
    sort(changes: readonly PathChange[]): { readonly added: PathChange[]; readonly altered: PathChange[] } {
      const added = changes.filter(({ path, before }) => before === undefined || made.has(path));
      for (const { path } of added) if (made.size < maxRemembered) made.add(path);
      return { added, altered: changes.filter((change) => !added.includes(change)) };
    },
  };
}

/**
 * Returns how files that existed at first differ in the end. `changes` is in order of time and may name a path several
 * times.
 */
export function findAltered(changes: readonly PathChange[]): PathChange[] {
  const byPath = new Map<TreePath, PathChange>();
  for (const change of changes)
    byPath.set(change.path, { ...change, before: (byPath.get(change.path) ?? change).before });
  return [...byPath.values()].filter(({ before, after }) => before?.kind === 'file' && !isSameAtPath(before, after));
}
