import type { CallAround, Workspace } from '../workspace.ts';
import type { History } from './history.ts';

type Around = NonNullable<Workspace['around']>;

/**
 * Around calls: those that may change something leave a checkpoint if they do. `outer` is around all of it: a mount takes
 * in what others committed before the history looks, and commits after it has looked again.
 */
export function keepHistory(history: Pick<History, 'record'>, outer?: Around): Around {
  const record = <T>({ access, tool, session, title }: CallAround, work: () => Promise<T>): Promise<T> =>
    access === 'read' ? work() : history.record({ tool, session, title }, work);
  if (!outer) return record;
  return (call, work) => outer(call, () => record(call, work));
}
