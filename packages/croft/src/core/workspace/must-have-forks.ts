import { AppError } from '@croft/protocol';
import type { Forks } from '../history/ports/forks.ts';
import type { Workspace } from './workspace.ts';

/** Throws `E_INVALID_INPUT` if the workspace cannot be forked. */
export function mustHaveForks({ name, forks }: Pick<Workspace, 'name' | 'forks'>): Forks {
  if (forks) return forks;
  throw new AppError('E_INVALID_INPUT', `the workspace ${name} cannot be forked here`, {
    details: { workspace: name },
  });
}
