import type { CheckpointLog, LoggedCheckpoint } from './checkpoint-log.ts';
import type { Checkpoint, TreeReport } from './history.ts';
import type { Timeline } from './timeline.ts';
import type { Root } from './tree.ts';
import { carryOut, toReport } from './tree-change.ts';
import { pickUndone, planUndo, type UndoTarget } from './undo-plan.ts';
import type { WorkingTree } from './working-tree.ts';

export interface UndoOptions {
  readonly tree: WorkingTree;
  readonly timeline: Timeline;
  readonly log: CheckpointLog;
  now(): Date;
}

/** Takes back what calls changed, and leaves a checkpoint of its own. */
export function createUndo({ tree, timeline, log, now }: UndoOptions) {
  async function undoFrom(target: UndoTarget, before: Root, signal: AbortSignal) {
    const all = await log.list();
    const picked = pickUndone(target, all);
    const options = { tree, scope: 'source' as const, signal, prepare: async () => {} };
    const changed = await carryOut(before, (from) => planUndo(tree, from, { picked, all }), options);
    const after = await timeline.look();
    const call = timeline.callOf('undo');
    const stretch = { before, after, paths: changed.changes.length };
    const id = await log.add({ callId: crypto.randomUUID(), call, at: now().toISOString(), ...stretch }, picked);
    const report: TreeReport = toReport(changed, id);
    return { result: { undone: picked.map((one) => toCheckpoint(one, id)), report }, after };
  }

  return (target: UndoTarget, signal: AbortSignal) => timeline.apart((before) => undoFrom(target, before, signal));
}

export function toCheckpoint({ name, note }: LoggedCheckpoint, undoneBy: string | undefined): Checkpoint {
  const { callId: _, undoneBy: __, ...rest } = note;
  return { id: name, ...rest, ...(undoneBy !== undefined && { undoneBy }) };
}
