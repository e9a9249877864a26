import type { Forks } from '../core/history/forks.ts';
import type { History } from '../core/history/history.ts';
import type { Place } from './places.ts';

/** The history of a place for people: what others committed is taken in before, and what comes back is committed too. */
export function toPlaceHistory({ history, around }: Pick<Place, 'history' | 'around'>): History | undefined {
  if (!history) return undefined;
  const within = <T>(tool: string, signal: AbortSignal, work: () => Promise<T>, access: 'read' | 'write' = 'write') =>
    around({ tool, access, session: 'rest', title: '', signal }, work);
  return {
    ...history,
    // Nothing of the workspace is changed by it, so that it needs no checkpoint.
    snapshot: (wanted) => within('snapshot_create', wanted.signal, () => history.snapshot(wanted), 'read'),
    diff: (wanted) => within('snapshot_diff', wanted.signal, () => history.diff(wanted), 'read'),
    restore: (target, signal) => within('snapshot_restore', signal, () => history.restore(target, signal)),
    undo: (target, signal) => within('undo', signal, () => history.undo(target, signal)),
  };
}

/** The same of its forks. */
export function toPlaceForks(forks: Forks, { around }: Pick<Place, 'around'>): Forks {
  const within = <T>(tool: string, access: 'read' | 'write', signal: AbortSignal, work: () => Promise<T>) =>
    around({ tool, access, session: 'rest', title: '', signal }, work);
  return {
    ...forks,
    fork: (wanted) => within('workspace_fork', 'read', wanted.signal, () => forks.fork(wanted)),
    merge: (wanted) => within('workspace_merge', 'write', wanted.signal, () => forks.merge(wanted)),
  };
}
