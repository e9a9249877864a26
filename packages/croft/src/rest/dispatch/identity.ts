import { AppError } from '@croft/protocol';
import { reachesAgent } from '../../core/accounts/access/key-reach.ts';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import { isSameToken, readBearer } from '../http/guards.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';
import type { Route } from '../platform/route.ts';
import type { EndpointMatch } from './match-path.ts';

export type RequestIdentity = { readonly kind: 'admin' } | { readonly kind: 'account'; readonly actor: Actor };

/** Stands for the admin in place of an account's id. */
export const adminId = 'admin';

/** Returns `undefined` for an unknown token. */
export async function identify(
  authorization: string | undefined,
  { adminToken, registry: { accounts } }: RestPlatform,
  isRemoval: boolean,
): Promise<RequestIdentity | undefined> {
  const token = readBearer(authorization);
  if (token === '') return undefined;
  if (isSameToken(token, adminToken)) return { kind: 'admin' };
  const active = await accounts.authenticate(token);
  // Deleting an account disables it first. A caller who started that must be able to repeat the request.
  const actor = active ?? (isRemoval ? await accounts.authenticateToRemove(token) : undefined);
  return actor && { kind: 'account', actor };
}

/** The admin acts in the account that the address names, and an account's key in its own account. */
export async function toActor(
  identity: RequestIdentity,
  { endpoint, params }: EndpointMatch,
  { registry }: RestPlatform,
): Promise<Actor> {
  if (identity.kind === 'account') {
    if (endpoint.audience === 'admin')
      throw new AppError('E_FORBIDDEN', 'only the admin may do this, with the admin token');
    return identity.actor;
  }
  if (endpoint.audience === 'account')
    throw new AppError('E_INVALID_INPUT', 'Admin must use account-specific endpoints', {
      details: { endpoints: '/accounts/{accountId}' },
    });
  const { accountId } = params;
  if (accountId !== undefined) await registry.accounts.get(accountId);
  return { accountId: accountId ?? adminId, label: adminId, scopes: ['*'] };
}

/** A key that is bound to agents reaches only routes for agents, and for it other agents do not exist. */
export function mustReach({ ofAgents }: Route, { agents }: Actor, { params }: EndpointMatch): void {
  if (agents === undefined) return;
  if (!ofAgents)
    throw new AppError('E_FORBIDDEN', `this key is bound to agents, and reaches nothing else: ${agents.join(', ')}`, {
      details: { agents },
    });
  const { agentId } = params;
  if (agentId !== undefined && !reachesAgent({ agents }, agentId)) throw notFound('Agent');
}

export function mustHaveScope({ scopes: needed }: Route, { scopes }: Actor): void {
  if (scopes.includes('*') || needed.some((scope) => scopes.includes(scope))) return;
  const [has, needs] = [scopes.join(', ') || 'none', needed.join(' or ')];
  throw new AppError('E_FORBIDDEN', `this needs a key of scope ${needs}; this key has ${has}`, {
    details: { needed, scopes },
  });
}
