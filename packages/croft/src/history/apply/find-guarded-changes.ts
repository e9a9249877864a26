import { setImmediate } from 'node:timers/promises';
import { canonicalNames } from '../../core/control-files/canonical-name.ts';
import { gitMarks, gitSettings } from '../../core/control-files/control-file-names.ts';
import { findControlPath } from '../../core/control-files/find-control-path.ts';
import type { PathChange, TreePath } from '../../core/history/ports/tree.ts';
import { findControlFiles, type GuardedRoot } from '../../disk/control-files/control-file-guard.ts';
import { findObeyedPaths } from '../../disk/control-files/find-obeyed-paths.ts';
import { completesGitDirectory } from '../../disk/control-files/is-git-directory.ts';

/** Other work gets a turn after this many paths. */
const pathsPerTurn = 128;

/**
 * Returns the paths whose change would alter a control file, or would complete a git directory together with the other
 * changes.
 */
export async function findGuardedChanges(
  root: GuardedRoot,
  changes: readonly PathChange[],
): Promise<ReadonlySet<TreePath>> {
  const guarded = new Set<TreePath>();
  const made = findMade(root, changes);
  const ledTo = await findObeyedPaths(root);
  for (const [index, { path, after }] of changes.entries()) {
    if (index % pathsPerTurn === pathsPerTurn - 1) await setImmediate();
    const isOfMade = after !== undefined && [...marksOn(path)].some(({ directory }) => made.has(directory));
    if (isOfMade || (await isGuarded(root, path, ledTo))) guarded.add(path);
  }
  return guarded;
}

async function isGuarded(root: GuardedRoot, path: TreePath, ledTo: Awaited<ReturnType<typeof findObeyedPaths>>) {
  if (path.isWellFormed()) return (await findControlFiles(root, path, { obeyed: ledTo })).length > 0;
  // A name that is not UTF-8 cannot be looked up by its path, so all names in the path count as existing.
  return (
    findControlPath(path) !== undefined ||
    canonicalNames(path).some((name) => gitSettings.has(name) || gitMarks.has(name))
  );
}

/** Returns the directories that are no git directories yet, but would be with all of these changes. */
function findMade(root: GuardedRoot, changes: readonly PathChange[]): ReadonlySet<string> {
  const coming = new Map<string, Set<string>>();
  for (const { path, after } of changes) {
    if (!after) continue;
    for (const { directory, mark } of marksOn(path))
      coming.set(directory, (coming.get(directory) ?? new Set()).add(mark));
  }
  const isMade = (directory: string, marks: ReadonlySet<string>) => completesGitDirectory(root, directory, marks);
  return new Set([...coming].filter(([directory, marks]) => isMade(directory, marks)).map(([directory]) => directory));
}

function* marksOn(path: TreePath): Generator<{ directory: string; mark: string }> {
  const names = canonicalNames(path);
  for (const [index, mark] of names.entries())
    if (gitMarks.has(mark)) yield { directory: names.slice(0, index).join('/'), mark };
}
