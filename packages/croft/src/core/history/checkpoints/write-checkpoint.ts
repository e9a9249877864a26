import type { CheckpointLog } from '../logs/checkpoint-log.ts';
import type { CheckpointNote } from '../logs/notes.ts';
import type { PathChange, TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { isSameAtPath } from '../trees/carry-out-plan.ts';
import { createByproductsOfChecks } from './byproducts-of-checks.ts';
import type { OpenCall } from './open-calls.ts';

export interface WriteCheckpointOptions {
  readonly tree: WorkingTree;
  readonly log: CheckpointLog;
  now(): Date;
  /** Called after each checkpoint is stored. */
  onCheckpoint(): void;
}

/** The changes between two captures. */
interface CapturedChanges {
  readonly before: TreeHash;
  readonly after: TreeHash;
  readonly changes: readonly PathChange[];
}

const maxAlongside = 20;

/**
 * Writes a checkpoint of captured changes without the by-products of the call that owns them, unless nothing is left.
 */
export function createWriteCheckpoint({ tree, log, now, onCheckpoint }: WriteCheckpointOptions) {
  const checkByproducts = createByproductsOfChecks();

  function withoutByproducts({ call, watched }: OpenCall, changes: readonly PathChange[]): readonly PathChange[] {
    if (call.byproducts === 'new') return changes.filter((change) => change.before !== undefined);
    if (call.byproducts !== 'all') return changes;
    const { altered } = checkByproducts.sort(changes);
    return watched ? [] : altered;
  }

  /**
   * Extends the checkpoint of the changes that the call reported by the changes that followed, so that both are one.
   * Returns false if somebody changed the same paths in between.
   */
  async function extend(more: CheckpointNote): Promise<boolean> {
    const earlier = await log.latestOf(more.callId);
    if (!earlier) return false;
    const changes = await tree.diff(earlier.note.before, earlier.note.after);
    for (const { path, after } of changes) if (!isSameAtPath(await tree.entry(more.before, path), after)) return false;
    const undone = changes.map(({ path, before }) => ({ path, after: before }));
    const before = await tree.amend(more.before, undone);
    const paths = (await tree.diff(before, more.after)).length;
    await log.replace(earlier.name, { ...more, at: earlier.note.at, call: earlier.note.call, before, paths });
    return true;
  }

  return async (owner: OpenCall, { before, after, changes }: CapturedChanges): Promise<void> => {
    const own = withoutByproducts(owner, changes);
    if (own.length === 0) return;
    const byproducts = own.length === changes.length ? [] : changes.filter((change) => !own.includes(change));
    const from = byproducts.length === 0 ? before : await tree.amend(before, byproducts);
    const note = toNote(owner, { before: from, after, paths: own.length, at: now().toISOString() });
    if (owner.isContinued && (await extend(note))) return;
    await log.add(note);
    onCheckpoint();
  };
}

function toNote(
  { id, call, alongside, isPartial }: OpenCall,
  stretch: Pick<CheckpointNote, 'before' | 'after' | 'paths' | 'at'>,
): CheckpointNote {
  return {
    ...{ callId: id, call, ...stretch },
    ...(alongside.size > 0 && { alongside: [...alongside].slice(0, maxAlongside) }),
    ...(isPartial && { isPartial }),
  };
}
