import { AppError } from '@croft/protocol';
import { reachesAgent } from '../../core/accounts/access/key-reach.ts';
import { operatorId } from '../../core/accounts/access/operator-ids.ts';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import { isLinkCode, type SessionHolder } from '../../core/accounts/keys/browser-sessions.ts';
import { isKeyLike } from '../../core/accounts/keys/key-rows.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import { mustBeConnected } from '../forward/must-be-connected.ts';
import { isSameToken, readBearer } from '../http/guards.ts';
import type { SessionCookie } from '../http/session-cookie.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';
import type { CallerSession, Route } from '../platform/route.ts';
import type { EndpointMatch } from './match-path.ts';

/** `operator` is the person of this server, for the workspaces that flags name. */
export type RequestIdentity =
  | { readonly kind: 'admin'; readonly holder: SessionHolder }
  | ({ readonly kind: 'account' | 'operator'; readonly actor: Actor } & CallerSession);

interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: Pick<SessionCookie, 'read'>;
}

interface IdentifyOptions {
  /** The request deletes an account. */
  readonly isRemoval?: boolean;
  /** The request may use up the code of a sign-in link. */
  readonly mayRedeem?: boolean;
}

/** Stands for the admin in place of an account's id. */
export const adminId = 'admin';

/** Returns `undefined` for unknown credentials. A key counts before a cookie. */
export async function identifyCaller(
  { authorization, cookie }: Credentials,
  platform: RestPlatform,
  options: IdentifyOptions = {},
): Promise<RequestIdentity | undefined> {
  if (authorization !== undefined) return identifyToken(readBearer(authorization), platform, options);
  const secret = cookie.read();
  if (secret !== undefined) mustBeConnected(platform.cluster);
  const found = secret === undefined ? undefined : await platform.sessions.find(secret);
  const identity = found && (await identifyHolder(found, platform));
  return identity && secret !== undefined
    ? { ...identity, session: { secret, expiresAt: found.expiresAt } }
    : undefined;
}

async function identifyToken(
  token: string,
  platform: RestPlatform,
  { isRemoval = false, mayRedeem = false }: IdentifyOptions,
): Promise<RequestIdentity | undefined> {
  const { adminToken, operator, registry, sessions } = platform;
  if (token === '') return undefined;
  if (isKeyLike(token)) mustBeConnected(platform.cluster);
  // Nearly all requests come with a key, which need not be compared with the tokens of the server then.
  const known = isKeyLike(token) ? await registry.accounts.authenticate(token) : undefined;
  if (known) return toAccount(known);
  if (isSameToken(token, adminToken)) return { kind: 'admin', holder: holderOfToken(platform, 'admin', adminToken) };
  if (operator && isSameToken(token, operator.token))
    return identifyHolder(holderOfToken(platform, 'token', operator.token), platform);
  if (mayRedeem && isLinkCode(token)) {
    const found = await sessions.redeem(token);
    return found && identifyHolder(found, platform);
  }
  // Deleting an account disables it first. A caller who started that must be able to repeat the request.
  const actor = isRemoval ? await registry.accounts.authenticateToRemove(token) : undefined;
  return actor && toAccount(actor);
}

function toAccount(actor: Actor): PersonIdentity {
  return { kind: 'account', actor, holder: { accountId: actor.accountId, keyId: keyIn(actor) } };
}

type PersonIdentity = Extract<RequestIdentity, { readonly kind: 'account' | 'operator' }>;

/** The caller that a browser session stands for now. `undefined` if its key or its token is gone. */
async function identifyHolder(holder: SessionHolder, platform: RestPlatform): Promise<PersonIdentity | undefined> {
  const { accountId, keyId } = holder;
  if (accountId !== operatorId) {
    const actor = await platform.registry.accounts.actorOf(accountId, keyId);
    return actor && { kind: 'account', actor, holder };
  }
  const actor = operatorOf(keyId, platform);
  return actor && { kind: 'operator', actor, holder };
}

/**
 * The admin token may do everything in the workspaces of flags. The token of the server is in the configuration of every
 * MCP client, so a model may have it: it decides no approvals and opens no terminals.
 */
function operatorOf(keyId: string, platform: RestPlatform): Actor | undefined {
  const { operator, adminToken } = platform;
  if (!operator) return undefined;
  if (keyId === holderOfToken(platform, 'admin', adminToken).keyId)
    return { accountId: operatorId, label: 'operator', scopes: ['*'] };
  if (keyId === holderOfToken(platform, 'token', operator.token).keyId)
    return { accountId: operatorId, label: 'token', scopes: operator.tokenScopes };
  return undefined;
}

/** Another token has another fingerprint, so that a session ends when its token is replaced. */
export function holderOfToken(
  { vault }: Pick<RestPlatform, 'vault'>,
  kind: 'admin' | 'token',
  token: string,
): SessionHolder {
  return { accountId: operatorId, keyId: `${kind}-${vault.hash(token)}`.slice(0, 64) };
}

function keyIn({ label }: Actor): string {
  return label.replace(/^key /, '');
}

/** The admin acts in the account that the address names, and an account's key in its own account. */
export async function toActor(
  identity: RequestIdentity,
  { endpoint, params }: EndpointMatch,
  { platform, route }: { readonly platform: RestPlatform; readonly route: Route },
): Promise<Actor> {
  if (identity.kind !== 'admin') {
    if (endpoint.audience === 'admin')
      throw new AppError('E_FORBIDDEN', 'only the admin may do this', {
        hint: 'Send Authorization: Bearer with the admin token of the server.',
      });
    return identity.actor;
  }
  const operator = route.signsIn ? operatorOf(identity.holder.keyId, platform) : undefined;
  if (operator) return operator;
  if (endpoint.audience === 'account')
    throw new AppError('E_INVALID_INPUT', 'Admin must use account-specific endpoints', {
      details: { endpoints: '/accounts/{accountId}' },
      hint: 'Call it below /accounts/{accountId}.',
    });
  const { accountId } = params;
  if (accountId !== undefined) await platform.registry.accounts.get(accountId);
  return { accountId: accountId ?? adminId, label: adminId, scopes: ['*'] };
}

/** Flags make the workspaces of the operator, so that much of an account does not exist for them. */
export function mustExistForOperator({ ofFlags, signsIn }: Route, { kind }: RequestIdentity): void {
  if (kind !== 'operator' || ofFlags || signsIn) return;
  throw new AppError(
    'E_FORBIDDEN',
    'this is for accounts: workspaces that flags of the server name cannot be changed here',
    {
      hint: 'Change the flags of the server, or make an account where the server runs: croft accounts create NAME',
    },
  );
}

/** A browser never speaks MCP, so that no cookie counts there. */
export function mustBeProgram({ forPrograms }: Route, identity: RequestIdentity): void {
  if (!forPrograms || identity.kind === 'admin' || !identity.session) return;
  throw new AppError('E_FORBIDDEN', 'this needs a key, and the request came with a browser session', {
    hint: 'Send Authorization: Bearer with a key.',
  });
}

/** A key that is bound to agents reaches only routes for agents, and for it other agents do not exist. */
export function mustReach({ ofAgents }: Route, { agents }: Actor, { params }: EndpointMatch): void {
  if (agents === undefined) return;
  if (!ofAgents)
    throw new AppError('E_FORBIDDEN', `this key is bound to agents, and reaches nothing else: ${agents.join(', ')}`, {
      details: { agents },
      hint: 'Use a key that is not bound to agents.',
    });
  const { agentId } = params;
  if (agentId !== undefined && !reachesAgent({ agents }, agentId)) throw notFound('Agent');
}

export function mustHaveScope({ scopes: needed }: Route, { accountId, scopes }: Actor): void {
  if (scopes.includes('*') || needed.some((scope) => scopes.includes(scope))) return;
  const [has, needs] = [scopes.join(', ') || 'none', needed.join(' or ')];
  throw new AppError('E_FORBIDDEN', `this needs a key of scope ${needs}; this key has ${has}`, {
    details: { needed, scopes },
    ...(accountId === operatorId && { hint: 'Sign in with `croft open`: the token of the server may do less.' }),
  });
}
