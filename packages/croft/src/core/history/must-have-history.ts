import { AppError } from '@croft/protocol';
import type { Workspace } from '../workspace.ts';
import type { History } from './history.ts';

/** Throws where nothing of what a workspace was is kept. */
export function mustHaveHistory({ name, history }: Pick<Workspace, 'name' | 'history'>): History {
  if (history) return history;
  const reason = `nothing of what the workspace ${name} was is kept here, so there are no snapshots and no undo`;
  throw new AppError('E_INVALID_INPUT', reason, { details: { workspace: name } });
}
