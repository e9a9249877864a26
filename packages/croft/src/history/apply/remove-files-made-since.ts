import { fstatSync, lstatSync, unlinkSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { TreeMoment } from '../../core/history/ports/working-tree.ts';
import { fromRaw, type RawName } from '../../core/history/trees/raw-names.ts';
import { createDirectoryFds, type DirectoryFds, nameOf, parentOf } from '../files/directory-fds.ts';
import { entryPathOf } from '../files/read-leaf.ts';
import { isInScope } from '../tree/is-in-scope.ts';
import type { TouchedPath, TreeIndex } from '../tree/tree-index.ts';
import { pathOf } from '../tree/tree-nodes.ts';
import { findGuardedChanges } from './find-guarded-changes.ts';
import { sightPath } from './update-index.ts';

interface RemoveMadeDependencies {
  readonly rootFd: number;
  readonly names: readonly string[];
  readonly index: TreeIndex;
}

const filesPerTurn = 500;
/** The slowest tick of the kernel's clock for file times. */
const tickMs = 10;

/**
 * Returns a moment between the births of all existing files and of files made from now on. If something changed just
 * now, this waits for the clock to tick.
 */
export async function markMoment(
  index: TreeIndex,
  scan: () => Promise<{ readonly atNs: bigint }>,
): Promise<TreeMoment> {
  const startMs = performance.now();
  const { atNs: seenNs } = await scan();
  const isQuiet = startMs - index.touchedAtMs >= 2 * tickMs;
  if (!isQuiet) await setTimeout(2.5 * tickMs);
  return { bornBeforeNs: seenNs + toNs(isQuiet ? -1.5 * tickMs : tickMs), scanNumber: index.absorbed };
}

const toNs = (ms: number) => BigInt(ms * 1_000_000);

/**
 * Deletes files that a call made and that the history does not have. A file that was moved to its path existed before
 * and stays.
 */
export async function removeFilesMadeSince(
  dependencies: RemoveMadeDependencies,
  { scanNumber, bornBeforeNs }: TreeMoment,
): Promise<readonly TouchedPath[]> {
  const { rootFd, index, names } = dependencies;
  if (!knowsCreationTime(rootFd)) return [];
  using handles = createDirectoryFds(rootFd);
  const removed: RawName[] = [];
  const made = findMade(index, scanNumber);
  const changes = made.map((path) => ({ path: fromRaw(path), before: undefined, after: undefined }));
  const guarded = await findGuardedChanges({ handle: rootFd, names }, changes);
  for (const [count, path] of made.entries()) {
    if (count % filesPerTurn === filesPerTurn - 1) await setImmediate();
    if (guarded.has(fromRaw(path))) continue;
    if (removeOne(path, handles, bornBeforeNs)) removed.push(path);
  }
  return index.absorb({ isWhole: false, sightings: removed.map((path) => sightPath(path, handles)), atNs: 0n });
}

function findMade({ directories }: TreeIndex, scanNumber: number): RawName[] {
  return [...directories.values()].flatMap(({ children }) =>
    [...children.values()].flatMap((child) =>
      child.kind !== 'directory' && child.bornIn > scanNumber && isInScope(child, 'with-ignored')
        ? [pathOf(child)]
        : [],
    ),
  );
}

function removeOne(path: RawName, handles: DirectoryFds, bornBeforeNs: bigint): boolean {
  try {
    const entryPath = entryPathOf(handles.fdOf(parentOf(path)), nameOf(path));
    if (lstatSync(entryPath, { bigint: true }).birthtimeNs <= bornBeforeNs) return false;
    unlinkSync(entryPath);
    return true;
  } catch {
    // The file is gone, or we may not delete it. The caller counts again.
    return false;
  }
}

/** Whether the file system records birth times. Where it does not, Node returns the change time. */
function knowsCreationTime(rootFd: number): boolean {
  const { birthtimeNs, ctimeNs } = fstatSync(rootFd, { bigint: true });
  return birthtimeNs > 0n && birthtimeNs !== ctimeNs;
}
