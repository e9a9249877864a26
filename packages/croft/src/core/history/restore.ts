import type { Archive } from './archive.ts';
import type { CheckpointLog } from './checkpoint-log.ts';
import type { TreeReport } from './history.ts';
import type { RestoreTarget } from './restore-target.ts';
import type { LoggedSnapshot, SnapshotLog } from './snapshot-log.ts';
import type { TakeSnapshot } from './take-snapshot.ts';
import type { Timeline } from './timeline.ts';
import type { PathChange, Root } from './tree.ts';
import {
  type CarryOutOptions,
  type Changed,
  carryOut,
  isConflict,
  isSame,
  type Plan,
  toReport,
} from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

export interface RestoreOptions {
  readonly tree: WorkingTree;
  readonly timeline: Timeline;
  readonly archive: Archive;
  readonly log: CheckpointLog;
  readonly snapshots: Pick<SnapshotLog, 'put' | 'freeName'>;
  readonly take: TakeSnapshot;
  findTarget(target: { name: string } | 'green'): Promise<RestoreTarget>;
  now(): Date;
}

interface Restored extends Changed {
  readonly takenBackBy: string;
}

/** Back to a tree that was. What is there before is kept as a snapshot of its own. */
export function createRestore(options: RestoreOptions) {
  const { tree, timeline, archive, log, snapshots, take, findTarget, now } = options;

  async function bringBack({ root, scope }: RestoreTarget, signal: AbortSignal): Promise<Restored> {
    const { root: found } = await tree.capture({ scope, signal });
    const plan: Plan = (from) => tree.diff(from, root);
    if ((await plan(found)).length === 0) return { changes: [], refused: [], takenBackBy: '' };
    const takenBackBy = await snapshots.freeName('restore', now());
    const prepare = (changes: readonly PathChange[]) => archive.bringContents(changes, signal);
    const keep = (includesIgnored: boolean) =>
      take({ name: takenBackBy, description: 'before a restore', includesIgnored, isAutomatic: true, signal });
    const note = await keep(scope !== 'source');
    const onRevealed = (changes: readonly PathChange[]) => addTo({ name: takenBackBy, note }, changes, signal);
    const changed = await overIgnored({ tree, scope, signal, prepare, onRevealed }, { found, plan, keep });
    return { ...changed, takenBackBy };
  }

  /** Rules that are gone show what they hid: it has to be remembered too. */
  async function addTo({ name, note }: LoggedSnapshot, changes: readonly PathChange[], signal: AbortSignal) {
    if (changes.length === 0) return;
    const root = await tree.amend(
      note.root,
      changes.map(({ path, before }) => ({ path, after: before })),
    );
    await archive.put(root, signal);
    await snapshots.put(name, { ...note, root });
  }

  async function noteRestore(before: Root, after: Root, paths: number): Promise<void> {
    if (before === after) return;
    const call = timeline.callOf('snapshot_restore');
    await log.add({ callId: crypto.randomUUID(), call, at: now().toISOString(), before, after, paths });
  }

  return async function restore(
    given: { name: string } | 'green',
    signal: AbortSignal,
  ): Promise<{ snapshot: string; report: TreeReport }> {
    const target = await findTarget(given);
    await archive.bringListings(target.root, signal);
    return timeline.apart(async (before) => {
      const { takenBackBy, ...changed } = await bringBack(target, signal);
      const after = await timeline.look();
      await noteRestore(before, after, changed.changes.length);
      return { result: { snapshot: target.name, report: toReport(changed, takenBackBy) }, after };
    });
  };
}

interface Attempt {
  readonly found: Root;
  readonly plan: Plan;
  /** Remembers what is there. */
  keep(includesIgnored: boolean): Promise<{ readonly root: Root }>;
}

/**
 * What git ignores by now, and did not then, stands in the way of a plan that does not know of it. It is as much a part of
 * the snapshot as the rest, and replaced once it is remembered too.
 */
async function overIgnored(options: CarryOutOptions, { found, plan, keep }: Attempt): Promise<Changed> {
  try {
    return await carryOut(found, plan, options);
  } catch (thrown) {
    if (!isConflict(thrown) || options.scope !== 'source') throw thrown;
    const whole = (await keep(true)).root;
    return carryOut(found, planOver(options.tree, plan, whole), { ...options, onRevealed: async () => {} });
  }
}

function planOver(tree: WorkingTree, plan: Plan, whole: Root): Plan {
  return async (from) => {
    const changes: PathChange[] = [];
    for (const change of await plan(from)) {
      const before = change.before ?? (await tree.entry(whole, change.path));
      if (!isSame(before, change.after)) changes.push({ ...change, before });
    }
    return changes;
  };
}
