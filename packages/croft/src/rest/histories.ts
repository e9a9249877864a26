import { AppError } from '@croft/protocol';
import type { Actor } from '../core/accounts/registry.ts';
import type { Forks } from '../core/history/forks.ts';
import type { History } from '../core/history/history.ts';
import type { Platform } from './platform.ts';
import type { RouteCall } from './route.ts';

/** What the workspaces of accounts were. */
export interface Histories {
  /** Throws `E_NOT_FOUND` for what is not the account's own. Nothing where none is kept. */
  of(accountId: string, workspaceId: string): Promise<History | undefined>;
}

/** Workspaces that began as others were. */
export interface ForkDoors {
  /** Throws `E_NOT_FOUND` for what is not the account's own. */
  of(actor: Actor, workspaceId: string): Promise<Forks>;
}

export async function forksOf(
  { forks }: Pick<Platform, 'forks'>,
  { actor, params }: Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>,
): Promise<Forks> {
  if (!forks) throw new AppError('E_NOT_FOUND', 'workspaces cannot be forked on this server');
  return forks.of(actor, params.workspaceId);
}

export async function historyOf(
  { histories }: Pick<Platform, 'histories'>,
  { actor, params }: Pick<RouteCall<{ readonly workspaceId: string }>, 'actor' | 'params'>,
): Promise<History> {
  const history = await histories?.of(actor.accountId, params.workspaceId);
  if (!history) throw new AppError('E_NOT_FOUND', 'nothing of what this workspace was is kept on this server');
  return history;
}
