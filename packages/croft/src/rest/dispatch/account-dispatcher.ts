import { AppError } from '@croft/protocol';
import type { Context, Next } from 'hono';
import { operatorId } from '../../core/accounts/access/operator-ids.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import { type FileLinkUse, readFileLinkPath, serveFileLink } from '../files/serve-file-link.ts';
import { forwardedOf } from '../forward/forward-header.ts';
import { forwardRefusal } from '../forward/forward-refusal.ts';
import { serveWhereHeld } from '../forward/serve-where-held.ts';
import { limitBody } from '../http/body-limit.ts';
import { readJsonBody } from '../http/json-body.ts';
import { readQuery } from '../http/read-query.ts';
import { readIfMatch, toEtag } from '../http/record-etags.ts';
import { toSessionCookie } from '../http/session-cookie.ts';
import { createTokenBuckets } from '../http/token-buckets.ts';
import { defaultLimits, type RestPlatform } from '../platform/rest-platform.ts';
import type { HttpMethod, Route, RouteAnswer, RouteCall } from '../platform/route.ts';
import { removeAccountRoute } from '../routes/account.ts';
import { findLeaseSubject } from './find-lease-subject.ts';
import { createIdempotency } from './idempotency.ts';
import {
  identifyCaller,
  mustBeProgram,
  mustExistForOperator,
  mustHaveScope,
  mustReach,
  type RequestIdentity,
  toActor,
} from './identify-caller.ts';
import { type EndpointMatch, matchPath, noSuchAddress, type RestEndpoint } from './match-path.ts';

interface AccountDispatcherOptions {
  readonly platform: RestPlatform;
  readonly maxBodyBytes: number;
  isStopping(): boolean;
}

/**
 * Makes the error for an unknown key. There are three kinds of secrets, so the hint says which one this address takes.
 */
function unknownKey({ endpoint }: EndpointMatch): AppError {
  const wanted =
    endpoint.audience === 'admin'
      ? 'the admin token: CROFT_ADMIN_TOKEN, or what is in the file admin-token of the data directory'
      : 'a key of the account, which POST /v1/keys makes; the token of the server itself opens no account, only the workspaces that its flags name';
  return new AppError('E_UNAUTHORIZED', 'the key is missing, unknown, expired or revoked', {
    hint: `Send Authorization: Bearer with ${wanted}.`,
  });
}

/** Enough for any record. Only inputs of tools may be larger. */
const maxRecordBytes = 1024 * 1024;

/** Handles all requests about accounts, from authentication to the declared route. */
export function createAccountDispatcher({ platform, maxBodyBytes, isStopping }: AccountDispatcherOptions) {
  const now = platform.now ?? Date.now;
  const { requestsPerMinute } = { ...defaultLimits, ...platform.limits };
  // All servers together allow an account no more than one would.
  const perMinute = () => platform.cluster?.shareOf(requestsPerMinute) ?? requestsPerMinute;
  const requests = createTokenBuckets({ perMinute, now });
  const idempotency = createIdempotency(platform, now);

  return async (c: Context, next: Next): Promise<Response | undefined> => {
    const path = pathIn(c);
    if (path === '/mcp') return passOn(next);
    const link = readFileLinkPath(path);
    if (link) return serveFileLink(platform, { ...link, ...toLinkUse(platform, c, mayUseLink) });
    const match = matchPath(path);
    const identity = await findIdentity(c, match, platform).catch(refuseForwarded);
    // The token of the server is also for addresses that are not declared here.
    if (identity && (match || identity.kind !== 'operator')) return serveKnown(c, identity, match);
    if (match) throw unknownKey(match);
    return passOn(next);
  };

  function mayUseLink(accountId: string, isForwarded: boolean): void {
    mustNotStop();
    if (!isForwarded) mustBeWithinRate(accountId);
  }

  function mustNotStop(): void {
    if (isStopping()) throw forwardRefusal(new AppError('E_STOPPING', 'the server is stopping'));
  }

  async function serveKnown(
    c: Context,
    identity: RequestIdentity,
    match: EndpointMatch | undefined,
  ): Promise<Response> {
    mustNotStop();
    if (identity.kind !== 'admin' && !forwardedOf(c)) mustBeWithinRate(identity.actor.accountId);
    if (!match) throw noSuchAddress();
    return serve(c, identity, match);
  }

  async function serve(c: Context, identity: RequestIdentity, match: EndpointMatch): Promise<Response> {
    const route = routeFor(match.endpoint, methodOf(c));
    const actor = await toActor(identity, match, { platform, route });
    mustExistForOperator(route, identity);
    mustBeProgram(route, identity);
    mustHaveScope(route, actor);
    mustReach(route, actor, match);
    const elsewhere = await serveElsewhere(platform, c, { actor, match });
    if (elsewhere) return elsewhere;
    if (!route.streams) await limitBody(c, route.large ? maxBodyBytes : Math.min(maxBodyBytes, maxRecordBytes));
    return handle(c, route, { actor, identity, params: match.params });
  }

  async function handle(c: Context, route: Route, accepted: AcceptedRequest): Promise<Response> {
    const { actor } = accepted;
    const served = actor.accountId === operatorId && platform.operator ? platform.operator.platform : platform;
    const call = await toRouteCall(c, route, accepted, platform);
    const answer = await (route.creates ? idempotency.once(route, call) : route.handle(served, call));
    return answer instanceof Response ? answer : toResponse(route, answer);
  }

  function mustBeWithinRate(accountId: string): void {
    const seconds = requests.take(accountId);
    if (seconds === 0) return;
    throw new AppError('E_RATE_LIMITED', `more than ${requestsPerMinute} requests a minute of one account`, {
      details: { retryAfterSeconds: seconds },
    });
  }
}

/** Returns the answer of another server that has what the request needs, if there is one. */
async function serveElsewhere(
  { cluster }: RestPlatform,
  c: Context,
  { actor, match }: { readonly actor: Actor; readonly match: EndpointMatch },
): Promise<Response | undefined> {
  const held = actor.accountId === operatorId ? undefined : findLeaseSubject(match, c.req.method, actor);
  return held && serveWhereHeld(cluster, c, forwardedOf(c), held);
}

/** A file link names an account and a workspace, and nothing that `identifyCaller` knows. */
function toLinkUse(
  { cluster }: RestPlatform,
  c: Context,
  mayUse: (accountId: string, isForwarded: boolean) => void,
): Omit<FileLinkUse, 'token' | 'onlyReads'> {
  const forwarded = forwardedOf(c);
  return {
    request: () => c.req.raw,
    mustBeWithinRate: (accountId) => mayUse(accountId, forwarded !== undefined),
    serveElsewhere: (accountId, workspaceId) =>
      serveWhereHeld(cluster, c, forwarded, {
        find: (known, isFresh) => known.ofWorkspace(accountId, workspaceId, isFresh),
        isRead: () => c.req.method !== 'PUT',
      }),
  };
}

interface AcceptedRequest extends Pick<RouteCall, 'actor' | 'params'> {
  readonly identity: RequestIdentity;
}

async function toRouteCall(
  c: Context,
  route: Route,
  { actor, params, identity }: AcceptedRequest,
  platform: RestPlatform,
): Promise<RouteCall> {
  const request = c.req.raw;
  return {
    ...{ actor, params, request, caller: identity, cookie: toSessionCookie(request, c.env) },
    query: route.query ? readQuery(route.query, c.req.query()) : {},
    expect: route.conditional ? readIfMatch(request.headers.get('if-match')) : {},
    body: route.raw || !route.body ? {} : await readJsonBody(request),
    isStillAllowed: async () => (await identifyCaller(credentialsOf(c), platform)) !== undefined,
  };
}

/** Marks the error as thrown before anything was done, so that another server may serve the request. */
function refuseForwarded(thrown: unknown): never {
  throw forwardRefusal(AppError.from(thrown));
}

/** A cookie counts only at declared addresses. */
async function findIdentity(c: Context, match: EndpointMatch | undefined, platform: RestPlatform) {
  if (!match && c.req.header('authorization') === undefined) return undefined;
  const route = match?.endpoint.routes[methodOf(c) as HttpMethod];
  const options = { isRemoval: route === removeAccountRoute, mayRedeem: route?.signsIn ?? false };
  return identifyCaller(credentialsOf(c), platform, options);
}

function credentialsOf(c: Context) {
  return { authorization: c.req.header('authorization'), cookie: toSessionCookie(c.req.raw, c.env) };
}

async function passOn(next: Next): Promise<undefined> {
  await next();
}

function routeFor({ routes }: RestEndpoint, method: string): Route {
  const route = routes[method as HttpMethod];
  if (route) return route;
  throw new AppError('E_METHOD_NOT_ALLOWED', 'Method not allowed', {
    details: { method, allowedMethods: Object.keys(routes) },
    hint: `${method} is not possible at this address; possible: ${Object.keys(routes).join(', ')}.`,
  });
}

/** Makes the answer at once, and not by `Context.json`, whose `Headers` cost more than all of the answer. */
function toResponse(route: Route, { status, body, version, headers }: RouteAnswer): Response {
  return new Response(JSON.stringify(body), {
    status: status ?? route.status ?? 200,
    headers: {
      'Content-Type': 'application/json',
      // An answer for one key must not be cached for others.
      'Cache-Control': 'no-store',
      ...(version !== undefined && { ETag: toEtag(version) }),
      ...headers,
    },
  });
}

/** The path of a request, still percent-encoded. `new URL` is not needed: the URL of a request is in normal form. */
function pathIn({ req: { url } }: Context): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.slice(start).search(/[?#]/);
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : start + end);
}

/** HEAD is handled as GET. */
function methodOf({ req }: Context): string {
  return req.method === 'HEAD' ? 'GET' : req.method;
}
