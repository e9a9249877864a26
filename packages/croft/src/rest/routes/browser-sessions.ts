import { AppError, Deleted, SessionAnswer, type SignedIn, SignInLink } from '@croft/protocol';
import { operatorId } from '../../core/accounts/access/operator-ids.ts';
import { appendAudit } from '../../core/accounts/audit/audit-log.ts';
import type { SessionHolder } from '../../core/accounts/keys/browser-sessions.ts';
import { version } from '../../version.ts';
import { mustBeOwnPage } from '../http/session-cookie.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';
import { defineRoute, type RouteCall } from '../platform/route.ts';

const path = '/session';
const common = {
  // Every key may see what it may do, whatever its scopes.
  scopes: ['read', 'write', 'call', 'approve', 'terminal'],
  ofAgents: true,
  signsIn: true,
} as const;

/** Browsers that are signed in. A session may do what its key may do, and ends with it. */
export const browserSessionRoutes = [
  defineRoute({
    ...common,
    method: 'POST',
    path,
    summary: 'Signs a browser in with a key, or with the code of a sign-in link: the answer sets a cookie',
    status: 201,
    answer: SessionAnswer,
    async handle(platform, call) {
      const { request, caller, cookie, actor } = call;
      mustBeOwnPage(request);
      // Asked first, so that no session is made for a browser that cannot keep it.
      cookie.write('');
      const holder = mustHaveHolder(caller.holder);
      const { secret, expiresAt } = await platform.sessions.open(holder, 'session');
      await audit(platform, call, 'session.opened');
      const session = await toSignedIn(platform, { actor, expiresAt });
      return { body: { session }, headers: { 'Set-Cookie': cookie.write(secret) } };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path,
    summary: 'Shows who the caller is and what they may do',
    answer: SessionAnswer,
    async handle(platform, { actor, caller }) {
      return { body: { session: await toSignedIn(platform, { actor, expiresAt: caller.session?.expiresAt }) } };
    },
  }),
  defineRoute({
    ...common,
    method: 'DELETE',
    path,
    summary: 'Signs the browser out',
    answer: Deleted,
    failures: ['E_NOT_FOUND'],
    async handle(platform, call) {
      const { session } = call.caller;
      if (!session)
        throw new AppError('E_NOT_FOUND', 'this request came with a key and no browser session', {
          hint: 'Nothing has to be ended: a key has no session here.',
        });
      await platform.sessions.end(session.secret);
      await audit(platform, call, 'session.ended');
      return { body: { deleted: true }, headers: { 'Set-Cookie': call.cookie.clear() } };
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: `${path}/links`,
    summary: 'Makes a link that opens the page signed in, once, within a minute',
    status: 201,
    answer: SignInLink,
    async handle(platform, call) {
      const holder = mustHaveHolder(call.caller.holder);
      const { secret, expiresAt } = await platform.sessions.open(holder, 'link');
      await audit(platform, call, 'session.link');
      return { body: { path: toLinkPath(secret), once: secret, expiresAt } };
    },
  }),
];

/** Behind the hash, which no browser sends to a server and no log has. */
export function toLinkPath(code: string): string {
  return `/#once=${code}`;
}

function mustHaveHolder(holder: SessionHolder | undefined): SessionHolder {
  if (holder) return holder;
  throw new AppError('E_FORBIDDEN', 'this needs a key of the account', {
    hint: 'Send Authorization: Bearer with a key that POST /v1/keys made; the admin token cannot do this.',
  });
}

interface SignedInBy extends Pick<RouteCall, 'actor'> {
  readonly expiresAt: string | undefined;
}

async function toSignedIn({ registry }: RestPlatform, { actor, expiresAt }: SignedInBy): Promise<SignedIn> {
  const { accountId, label, scopes, agents } = actor;
  const isOperator = accountId === operatorId;
  return {
    ...{ accountId, label, isOperator, version, scopes: [...scopes] },
    username: isOperator ? 'operator' : (await registry.accounts.get(accountId)).username,
    ...(agents && { agents: [...agents] }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

function audit(
  { records, now = Date.now }: RestPlatform,
  { actor, caller }: Pick<RouteCall, 'actor' | 'caller'>,
  action: string,
) {
  const { accountId, label } = actor;
  const row = { accountId, at: new Date(now()), actor: label, action, target: caller.holder?.keyId ?? '', details: {} };
  return records.change((tables) => appendAudit(tables, row));
}
