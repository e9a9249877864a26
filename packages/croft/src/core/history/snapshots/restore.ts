import type { ChangeRecorder } from '../checkpoints/change-recorder.ts';
import type { CheckpointLog } from '../logs/checkpoint-log.ts';
import type { LoggedSnapshot, SnapshotLog } from '../logs/snapshot-log.ts';
import type { TreeReport } from '../ports/history.ts';
import type { PathChange, TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import {
  type CarriedOutChanges,
  type CarryOutPlanOptions,
  type ChangePlanner,
  carryOutPlan,
  isConflict,
  isSameAtPath,
  toTreeReport,
} from '../trees/carry-out-plan.ts';
import type { TreeArchive } from '../trees/tree-archive.ts';
import type { RestoreTarget } from './restore-target.ts';
import type { TakeSnapshot } from './take-snapshot.ts';

interface RestoreOptions {
  readonly tree: WorkingTree;
  readonly recorder: ChangeRecorder;
  readonly archive: TreeArchive;
  readonly log: CheckpointLog;
  readonly snapshots: Pick<SnapshotLog, 'put' | 'freeName'>;
  readonly take: TakeSnapshot;
  findTarget(target: { name: string } | 'green'): Promise<RestoreTarget>;
  now(): Date;
}

interface Restored extends CarriedOutChanges {
  readonly takenBackBy: string;
}

/** Restores an earlier tree. The tree before it is kept as an automatic snapshot. */
export function createRestore(options: RestoreOptions) {
  const { tree, recorder, archive, log, snapshots, take, findTarget, now } = options;

  async function bringBack({ root, scope }: RestoreTarget, signal: AbortSignal): Promise<Restored> {
    const { root: found } = await tree.capture({ scope, signal });
    const plan: ChangePlanner = (from) => tree.diff(from, root);
    if ((await plan(found)).length === 0) return { changes: [], refused: [], takenBackBy: '' };
    const takenBackBy = await snapshots.freeName('restore', now());
    const prepare = (changes: readonly PathChange[]) => archive.bringContents(changes, signal);
    const snapshot = (includesIgnored: boolean) =>
      take({ name: takenBackBy, description: 'before a restore', includesIgnored, isAutomatic: true, signal });
    const note = await snapshot(scope !== 'source');
    const onRevealed = (changes: readonly PathChange[]) => addTo({ name: takenBackBy, note }, changes, signal);
    const changed = await overIgnored({ tree, scope, signal, prepare, onRevealed }, { found, plan, snapshot });
    return { ...changed, takenBackBy };
  }

  /**
   * Adds to the snapshot the files that become visible because ignore rules go away: the restore is about to replace
   * them.
   */
  async function addTo({ name, note }: LoggedSnapshot, changes: readonly PathChange[], signal: AbortSignal) {
    if (changes.length === 0) return;
    const root = await tree.amend(
      note.root,
      changes.map(({ path, before }) => ({ path, after: before })),
    );
    await archive.put(root, signal);
    await snapshots.put(name, { ...note, root });
  }

  async function noteRestore(before: TreeHash, after: TreeHash, paths: number): Promise<void> {
    if (before === after) return;
    const call = recorder.callOf('snapshot_restore');
    await log.add({ callId: crypto.randomUUID(), call, at: now().toISOString(), before, after, paths });
  }

  return async function restore(
    given: { name: string } | 'green',
    signal: AbortSignal,
  ): Promise<{ snapshot: string; report: TreeReport }> {
    const target = await findTarget(given);
    await archive.bringListings(target.root, signal);
    return recorder.runExclusive(async (before) => {
      const { takenBackBy, ...changed } = await bringBack(target, signal);
      const after = await recorder.captureHash();
      await noteRestore(before, after, changed.changes.length);
      return { result: { snapshot: target.name, report: toTreeReport(changed, takenBackBy) }, after };
    });
  };
}

interface Attempt {
  readonly found: TreeHash;
  readonly plan: ChangePlanner;
  /** Takes a snapshot of the tree before the restore. */
  snapshot(includesIgnored: boolean): Promise<{ readonly root: TreeHash }>;
}

/**
 * Carries out the plan. A file that git ignores now, but did not ignore in the snapshot, conflicts with a plan that
 * does not know of it. Such a file belongs to the snapshot like the rest, so a second snapshot with ignored files is
 * taken and the file is replaced.
 */
async function overIgnored(
  options: CarryOutPlanOptions,
  { found, plan, snapshot }: Attempt,
): Promise<CarriedOutChanges> {
  try {
    return await carryOutPlan(found, plan, options);
  } catch (thrown) {
    if (!isConflict(thrown) || options.scope !== 'source') throw thrown;
    const whole = (await snapshot(true)).root;
    return carryOutPlan(found, planOver(options.tree, plan, whole), { ...options, onRevealed: async () => {} });
  }
}

function planOver(tree: WorkingTree, plan: ChangePlanner, whole: TreeHash): ChangePlanner {
  return async (from) => {
    const changes: PathChange[] = [];
    for (const change of await plan(from)) {
      const before = change.before ?? (await tree.entry(whole, change.path));
      if (!isSameAtPath(before, change.after)) changes.push({ ...change, before });
    }
    return changes;
  };
}
