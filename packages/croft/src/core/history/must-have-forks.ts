import { AppError } from '@croft/protocol';
import type { Workspace } from '../workspace.ts';
import type { Forks } from './forks.ts';

/** Throws where a workspace cannot be forked. */
export function mustHaveForks({ name, forks }: Pick<Workspace, 'name' | 'forks'>): Forks {
  if (forks) return forks;
  throw new AppError('E_INVALID_INPUT', `the workspace ${name} cannot be forked here`, {
    details: { workspace: name },
  });
}
