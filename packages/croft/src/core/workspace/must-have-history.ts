import { AppError } from '@croft/protocol';
import type { History } from '../history/ports/history.ts';
import type { Workspace } from './workspace.ts';

/** Throws `E_INVALID_INPUT` if the workspace has no history. */
export function mustHaveHistory({ name, history }: Pick<Workspace, 'name' | 'history'>): History {
  if (history) return history;
  const reason = `the workspace ${name} has no history here, so there are no snapshots and no undo`;
  throw new AppError('E_INVALID_INPUT', reason, { details: { workspace: name } });
}
