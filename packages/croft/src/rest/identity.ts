import { AppError } from '@croft/protocol';
import type { Actor } from '../core/accounts/registry.ts';
import { isSameToken, readBearer } from './guards.ts';
import type { Match } from './match.ts';
import type { Platform } from './platform.ts';
import type { Route } from './route.ts';

export type Identity = { readonly kind: 'admin' } | { readonly kind: 'account'; readonly actor: Actor };

/** Stands for the admin where an account's id would. */
export const adminId = 'admin';

/** `undefined` for a token that is nobody's. */
export async function identify(
  authorization: string | undefined,
  { adminToken, registry: { accounts } }: Platform,
  isRemoval: boolean,
): Promise<Identity | undefined> {
  const token = readBearer(authorization);
  if (token === '') return undefined;
  if (isSameToken(token, adminToken)) return { kind: 'admin' };
  const active = await accounts.authenticate(token);
  // An account is disabled before it is taken apart; who began that may have to go on with it.
  const actor = active ?? (isRemoval ? await accounts.authenticateToRemove(token) : undefined);
  return actor && { kind: 'account', actor };
}

/** The admin acts in the account the address names, an account's key in its own. */
export async function toActor(identity: Identity, { place, params }: Match, { registry }: Platform): Promise<Actor> {
  if (identity.kind === 'account') {
    if (place.audience === 'admin')
      throw new AppError('E_FORBIDDEN', 'only the admin may do this, with the admin token');
    return identity.actor;
  }
  if (place.audience === 'account')
    throw new AppError('E_INVALID_INPUT', 'Admin must use account-specific endpoints', {
      details: { endpoints: '/accounts/{accountId}' },
    });
  const { accountId } = params;
  if (accountId !== undefined) await registry.accounts.get(accountId);
  return { accountId: accountId ?? adminId, label: adminId, scopes: ['*'] };
}

export function mustHaveScope({ scopes: needed }: Route, { scopes }: Actor): void {
  if (scopes.includes('*') || needed.some((scope) => scopes.includes(scope))) return;
  const [has, needs] = [scopes.join(', ') || 'none', needed.join(' or ')];
  throw new AppError('E_FORBIDDEN', `this needs a key of scope ${needs}; this key has ${has}`, {
    details: { needed, scopes },
  });
}
