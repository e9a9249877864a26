import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { PathChange, TreePath } from '../../core/history/ports/tree.ts';
import type { TreeApplyOptions } from '../../core/history/ports/working-tree.ts';
import { createDirectoryFds, depthOf, parentOf } from '../files/directory-fds.ts';
import { fsyncDirectories, manyFsyncs, syncFileSystem } from '../files/fsync-directories.ts';
import type { TouchedPath, TreeIndex } from '../tree/tree-index.ts';
import { changeModes } from './change-modes.ts';
import {
  type ApplyPlan,
  changedBySomebodyElse,
  changingLocked,
  forPath,
  type PlannedChange,
  planChanges,
} from './plan-changes.ts';
import { makeDirectories, type PlacementState, putInPlace } from './put-in-place.ts';
import { removeEmpty, removePlanned } from './remove-planned.ts';
import { discardStaged, type StagedFile, stageChange, syncStaged } from './stage-change.ts';
import { updateIndex } from './update-index.ts';
import { isUntouched, verifyChanges } from './verify-changes.ts';

const stagedAtOnce = 8;

interface ApplyDependencies {
  readonly rootFd: number;
  readonly names: readonly string[];
  /** Names of control files that the operator allows to change. Without it, none. */
  readonly allowControl?: readonly string[] | undefined;
  readonly index: TreeIndex;
  readonly store: HistoryStore;
}

interface AppliedChanges {
  readonly refused: readonly TreePath[];
  readonly touches: readonly TouchedPath[];
}

/**
 * Applies changes in this order: verifies all paths, writes all new files under temporary names, makes them durable,
 * verifies again, and then puts one after the other in place. At every moment, also after a crash, each file is as it
 * was or as it is to be.
 */
export async function applyChanges(
  dependencies: ApplyDependencies,
  changes: readonly PathChange[],
  options: TreeApplyOptions,
): Promise<AppliedChanges> {
  using handles = createDirectoryFds(dependencies.rootFd);
  const { rootFd: handle, names, allowControl } = dependencies;
  const { plan, refused } = await planChanges(
    changes,
    options.isFromStorage ? 'unguarded' : { handle, names, allowControl },
  );
  await verifyChanges(plan, { index: dependencies.index, handles, signal: options.signal });
  const needed = [...plan.values()].filter(needsContent);
  const lacking = await dependencies.store.findMissing(needed.flatMap(({ after }) => after?.hash ?? []));
  const staged: StagedFile[] = [];
  try {
    const syncsEach = needed.length < manyFsyncs;
    await stageAll(needed, staged, { handles, store: dependencies.store, options, lacking, syncsEach });
    if (!syncsEach && !(await syncFileSystem(dependencies.rootFd)))
      for (const each of staged) await syncStaged(each, handles);
    const late = [...plan.values()].filter((change) => !isUntouched(change, handles));
    if (late.length > 0) throw changedBySomebodyElse(late.map(({ path }) => path));
    const touches = await putAllInPlace(plan, staged, { handles, touched: new Set(), made: [] }, dependencies, lacking);
    return { refused, touches };
  } catch (thrown) {
    for (const each of staged) discardStaged(each, handles);
    throw thrown;
  }
}

function needsContent({ before, after }: PlannedChange): boolean {
  if (!after || after.kind === 'directory') return false;
  return before?.kind !== after.kind || before.hash !== after.hash;
}

async function stageAll(
  changes: readonly PlannedChange[],
  staged: StagedFile[],
  dependencies: Parameters<typeof stageChange>[1],
): Promise<void> {
  const { options } = dependencies;
  for (let at = 0; at < changes.length; at += stagedAtOnce) {
    options.signal?.throwIfAborted();
    const batch = changes
      .slice(at, at + stagedAtOnce)
      .map(async (change) => forPath(change.path, async () => staged.push(await stageChange(change, dependencies))));
    const failed = (await Promise.allSettled(batch)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    options.onProgress?.(Math.min(at + stagedAtOnce, changes.length), changes.length);
  }
}

async function putAllInPlace(
  plan: ApplyPlan,
  staged: readonly StagedFile[],
  placing: PlacementState,
  dependencies: ApplyDependencies,
  lacking: ReadonlySet<string>,
): Promise<TouchedPath[]> {
  const { handles } = placing;
  const order = [...plan.values()].sort((one, other) => depthOf(one.raw) - depthOf(other.raw));
  const wanted = order.filter(({ after }) => after?.kind === 'directory').map(({ raw }) => raw);
  await removePlanned(plan, placing);
  await makeDirectories([...wanted, ...staged.map(({ change }) => parentOf(change.raw))], plan, placing);
  for (const each of staged) await changingLocked(each.change, handles, () => putInPlace(each, placing));
  await changeModes(order, handles);
  const removed = await removeEmpty(plan, placing);
  await fsyncDirectories(placing.touched, handles, dependencies.rootFd);
  return updateIndex(
    plan,
    [...placing.made, ...order.map(({ raw }) => raw), ...removed],
    dependencies.index,
    handles,
    lacking,
  );
}
