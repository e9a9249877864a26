import type { WorkspaceCall, WrapCall } from '../../workspace/workspace.ts';
import type { ChangeReporter, History } from '../ports/history.ts';

type Recording = Pick<History, 'record' | 'recordReported'>;

/** Returns a wrapper for calls. A call that may change files leaves a checkpoint if it does. */
export function wrapWithHistory(history: Recording): WrapCall {
  return (call, work) => recordCall(history, call, work);
}

export function recordCall<T>(
  history: Recording,
  { id, access, tool, session, title, reportsChanges, leavesFiles, byproducts, onNotUndoable }: WorkspaceCall,
  work: (reporter?: ChangeReporter) => Promise<T>,
): Promise<T> {
  if (access === 'read' || leavesFiles) return work();
  const call = { ...(id !== undefined && { id }), tool, session, title, ...(byproducts && { byproducts }) };
  return reportsChanges
    ? history.recordReported(call, work, onNotUndoable)
    : history.record(call, () => work(), onNotUndoable);
}
