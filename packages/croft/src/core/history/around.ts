import type { CallAround, Workspace } from '../workspace.ts';
import type { History, Telling } from './history.ts';

type Around = NonNullable<Workspace['around']>;
type Recording = Pick<History, 'record' | 'recordTold'>;

/**
 * Around calls: those that may change something leave a checkpoint if they do. `outer` is around all of it: a mount takes
 * in what others committed before the history looks, and commits after it has looked again.
 */
export function keepHistory(history: Recording, outer?: Around): Around {
  if (!outer) return (call, work) => recordCall(history, call, work);
  return (call, work) => outer(call, () => recordCall(history, call, work));
}

export function recordCall<T>(
  history: Recording,
  { access, tool, session, title, tells, leavesFiles }: CallAround,
  work: (telling?: Telling) => Promise<T>,
): Promise<T> {
  if (access === 'read' || leavesFiles) return work();
  const call = { tool, session, title };
  return tells ? history.recordTold(call, work) : history.record(call, () => work());
}
