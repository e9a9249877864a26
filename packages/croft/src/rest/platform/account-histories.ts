import { AppError } from '@croft/protocol';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { History, PastTrees } from '../../core/history/ports/history.ts';
import type { RestPlatform } from './rest-platform.ts';
import type { RouteCall } from './route.ts';

/** The histories of the workspaces of accounts. */
export interface AccountHistories {
  /**
   * Throws `E_NOT_FOUND` for a workspace that is not the account's own. Returns `undefined` if the workspace has no
   * history.
   */
  of(accountId: string, workspaceId: string): Promise<History | undefined>;
}

/** The forks of the workspaces of accounts. */
export interface AccountForkAccess {
  /** Throws `E_NOT_FOUND` for a workspace that is not the account's own. */
  of(actor: Actor, workspaceId: string): Promise<Forks>;
}

export async function forksOf(
  { forks }: Pick<RestPlatform, 'forks'>,
  { actor, params }: Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>,
): Promise<Forks> {
  if (!forks)
    throw new AppError('E_NOT_FOUND', 'workspaces cannot be forked on this server', {
      hint: 'Create a workspace, and copy the files into it.',
    });
  return forks.of(actor, params.workspaceId);
}

export async function historyOf(
  { histories }: Pick<RestPlatform, 'histories'>,
  { actor, params }: Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>,
): Promise<History> {
  const history = await histories?.of(actor.accountId, params.workspaceId);
  if (!history)
    throw new AppError('E_NOT_FOUND', 'this server keeps no history of this workspace', {
      hint: 'Work without snapshots and undo: keep a copy of what you change.',
    });
  return history;
}

export async function pastOf(
  platform: Pick<RestPlatform, 'histories'>,
  call: Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>,
): Promise<PastTrees> {
  const { past } = await historyOf(platform, call);
  if (!past)
    throw new AppError(
      'E_NOT_FOUND',
      'this workspace is on a runner of an older release, which does not show earlier files',
      {
        hint: 'Update Croft on the runner. Until then, fork the workspace from a snapshot, and read the files there.',
      },
    );
  return past;
}
