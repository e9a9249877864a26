import type { Workspace, WorkspaceCall } from '../../workspace/workspace.ts';
import type { ChangeReporter, History } from '../ports/history.ts';

type Around = NonNullable<Workspace['wrapCall']>;
type Recording = Pick<History, 'record' | 'recordReported'>;

/**
 * Returns a wrapper for calls. A call that may change files leaves a checkpoint if it does. `outer` wraps the recording
 * as well: a mount takes in what others committed before the history captures the tree, and commits after the second
 * capture.
 */
export function wrapWithHistory(history: Recording, outer?: Around): Around {
  if (!outer) return (call, work) => recordCall(history, call, work);
  return (call, work) => outer(call, () => recordCall(history, call, work));
}

export function recordCall<T>(
  history: Recording,
  { access, tool, session, title, tells, leavesFiles, byproducts, onUnkept }: WorkspaceCall,
  work: (telling?: ChangeReporter) => Promise<T>,
): Promise<T> {
  if (access === 'read' || leavesFiles) return work();
  const call = { tool, session, title, ...(byproducts && { byproducts }) };
  return tells ? history.recordReported(call, work, onUnkept) : history.record(call, () => work(), onUnkept);
}
