import type { CheckpointLog, LoggedCheckpoint } from '../logs/checkpoint-log.ts';
import type { Checkpoint, TreeReport } from '../ports/history.ts';
import type { TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { carryOutPlan, toTreeReport } from '../trees/carry-out-plan.ts';
import type { ChangeRecorder } from './change-recorder.ts';
import { pickUndone, planUndo, type UndoTarget } from './undo-plan.ts';

interface UndoOptions {
  readonly tree: WorkingTree;
  readonly recorder: ChangeRecorder;
  readonly log: CheckpointLog;
  now(): Date;
}

/** Undoes the changes of calls, and adds a checkpoint for the undo itself. */
export function createUndo({ tree, recorder, log, now }: UndoOptions) {
  async function undoFrom(target: UndoTarget, before: TreeHash, signal: AbortSignal) {
    const all = await log.list();
    const picked = pickUndone(target, all);
    const options = { tree, scope: 'source' as const, signal, prepare: async () => {} };
    const changed = await carryOutPlan(before, (from) => planUndo(tree, from, { picked, all }), options);
    const after = await recorder.captureHash();
    const call = recorder.callOf('undo');
    const stretch = { before, after, paths: changed.changes.length };
    const id = await log.add({ callId: crypto.randomUUID(), call, at: now().toISOString(), ...stretch }, picked);
    const report: TreeReport = toTreeReport(changed, id);
    return { result: { undone: picked.map((one) => toCheckpoint(one, id)), report }, after };
  }

  return (target: UndoTarget, signal: AbortSignal) =>
    recorder.runExclusive((before) => undoFrom(target, before, signal));
}

export function toCheckpoint({ name, note }: LoggedCheckpoint, undoneBy: string | undefined): Checkpoint {
  const { callId: _, undoneBy: __, isOfPaths: ___, ...rest } = note;
  return { id: name, ...rest, ...(undoneBy !== undefined && { undoneBy }) };
}
