import type { Forks } from '../../core/history/ports/forks.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { OpenedWorkspace } from './opened-workspaces.ts';

/**
 * A workspace's history for people, over REST. Each operation takes in what others committed, and commits what it
 * restores.
 */
export function toHistoryForRest({
  history,
  wrapCall,
}: Pick<OpenedWorkspace, 'history' | 'wrapCall'>): History | undefined {
  if (!history) return undefined;
  const within = <T>(tool: string, signal: AbortSignal, work: () => Promise<T>, access: 'read' | 'write' = 'write') =>
    wrapCall({ tool, access, session: 'rest', title: '', signal }, work);
  return {
    ...history,
    // A snapshot changes no file of the workspace, so it needs no checkpoint.
    snapshot: (wanted) => within('snapshot_create', wanted.signal, () => history.snapshot(wanted), 'read'),
    diff: (wanted) => within('snapshot_diff', wanted.signal, () => history.diff(wanted), 'read'),
    restore: (target, signal) => within('snapshot_restore', signal, () => history.restore(target, signal)),
    undo: (target, signal) => within('undo', signal, () => history.undo(target, signal)),
  };
}

/** Does the same for the forks of a workspace. */
export function toForksForRest(forks: Forks, { wrapCall }: Pick<OpenedWorkspace, 'wrapCall'>): Forks {
  const within = <T>(tool: string, access: 'read' | 'write', signal: AbortSignal, work: () => Promise<T>) =>
    wrapCall({ tool, access, session: 'rest', title: '', signal }, work);
  return {
    ...forks,
    fork: (wanted) => within('workspace_fork', 'read', wanted.signal, () => forks.fork(wanted)),
    merge: (wanted) => within('workspace_merge', 'write', wanted.signal, () => forks.merge(wanted)),
  };
}
