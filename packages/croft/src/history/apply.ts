import type { HistoryStore } from '../core/history/store.ts';
import type { PathChange, TreePath } from '../core/history/tree.ts';
import type { ApplyOptions } from '../core/history/working-tree.ts';
import { learnApplied } from './apply-learn.ts';
import { changeModes } from './apply-modes.ts';
import { makeDirectories, type Placing, putInPlace } from './apply-place.ts';
import { conflict, forPath, type Plan, type PlannedChange, planChanges } from './apply-plan.ts';
import { removeEmpty, removeOld } from './apply-remove.ts';
import { discard, type Staged, stage, syncStaged } from './apply-stage.ts';
import { isUntouched, verify } from './apply-verify.ts';
import { createPathHandles, depthOf, parentOf } from './path-handles.ts';
import { manySyncs, syncDirectories, syncFileSystem } from './sync-all.ts';
import type { Touch, TreeIndex } from './tree-index.ts';

const stagedAtOnce = 8;

export interface ApplyMeans {
  readonly root: number;
  readonly names: readonly string[];
  readonly index: TreeIndex;
  readonly store: HistoryStore;
}

export interface Applied {
  readonly refused: readonly TreePath[];
  readonly touches: readonly Touch[];
}

/**
 * Checks everything, writes everything beside where it belongs, makes that durable, checks once more, and only then puts
 * one after the other in its place: whoever looks, and whatever stops in between, finds each file as it was or as it is
 * to be.
 */
export async function applyChanges(
  means: ApplyMeans,
  changes: readonly PathChange[],
  options: ApplyOptions,
): Promise<Applied> {
  using handles = createPathHandles(means.root);
  const { plan, refused } = planChanges(changes, { handle: means.root, names: means.names });
  await verify(plan, { index: means.index, handles, signal: options.signal });
  const needed = [...plan.values()].filter(needsContent);
  const lacking = await means.store.lacks(needed.flatMap(({ after }) => after?.hash ?? []));
  const staged: Staged[] = [];
  try {
    const syncsEach = needed.length < manySyncs;
    await stageAll(needed, staged, { handles, store: means.store, options, lacking, syncsEach });
    if (!syncsEach && !(await syncFileSystem(means.root))) for (const each of staged) await syncStaged(each, handles);
    const late = [...plan.values()].filter((change) => !isUntouched(change, handles));
    if (late.length > 0) throw conflict(late.map(({ path }) => path));
    const touches = await place(plan, staged, { handles, touched: new Set(), made: [] }, means, lacking);
    return { refused, touches };
  } catch (thrown) {
    for (const each of staged) discard(each, handles);
    throw thrown;
  }
}

function needsContent({ before, after }: PlannedChange): boolean {
  if (!after || after.kind === 'directory') return false;
  return before?.kind !== after.kind || before.hash !== after.hash;
}

async function stageAll(
  changes: readonly PlannedChange[],
  staged: Staged[],
  means: Parameters<typeof stage>[1],
): Promise<void> {
  const { options } = means;
  for (let at = 0; at < changes.length; at += stagedAtOnce) {
    options.signal?.throwIfAborted();
    const batch = changes
      .slice(at, at + stagedAtOnce)
      .map(async (change) => forPath(change.path, async () => staged.push(await stage(change, means))));
    const failed = (await Promise.allSettled(batch)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    options.onProgress?.(Math.min(at + stagedAtOnce, changes.length), changes.length);
  }
}

async function place(
  plan: Plan,
  staged: readonly Staged[],
  placing: Placing,
  means: ApplyMeans,
  lacking: ReadonlySet<string>,
): Promise<Touch[]> {
  const { handles } = placing;
  const order = [...plan.values()].sort((one, other) => depthOf(one.raw) - depthOf(other.raw));
  const wanted = order.filter(({ after }) => after?.kind === 'directory').map(({ raw }) => raw);
  await removeOld(plan, placing);
  await makeDirectories([...wanted, ...staged.map(({ change }) => parentOf(change.raw))], plan, placing);
  for (const each of staged) await forPath(each.change.path, () => putInPlace(each, placing));
  await changeModes(order, handles);
  const removed = await removeEmpty(plan, placing);
  await syncDirectories(placing.touched, handles, means.root);
  return learnApplied(
    plan,
    [...placing.made, ...order.map(({ raw }) => raw), ...removed],
    means.index,
    handles,
    lacking,
  );
}
