import { AppError } from '@croft/protocol';
import type { Context, Next } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Actor } from '../core/accounts/registry.ts';
import { limitBody } from './body-limit.ts';
import { readLinkPath, serveLink } from './files/serve-link.ts';
import { createIdempotency } from './idempotency.ts';
import { type Identity, identify, mustHaveScope, toActor } from './identity.ts';
import { readJson } from './json-body.ts';
import { type Match, matchPath, type Place } from './match.ts';
import { defaultLimits, type Platform } from './platform.ts';
import { readIfMatch, toEtag } from './preconditions.ts';
import { readQuery } from './query.ts';
import type { Answer, Method, Route, RouteCall } from './route.ts';
import { removeAccountRoute } from './routes/account.ts';
import { createBuckets } from './token-bucket.ts';

export interface FaceOptions {
  readonly platform: Platform;
  readonly maxBodyBytes: number;
  isStopping(): boolean;
}

/** Enough for any record; only what tools are given may be larger. */
const maxRecordBytes = 1024 * 1024;

/** Everything about accounts: the one way from a request to what a route declares. */
export function createFace({ platform, maxBodyBytes, isStopping }: FaceOptions) {
  const now = platform.now ?? Date.now;
  const { requestsPerMinute } = { ...defaultLimits, ...platform.limits };
  const requests = createBuckets({ perMinute: requestsPerMinute, now });
  const idempotency = createIdempotency(platform, now);

  return async (c: Context, next: Next): Promise<Response | undefined> => {
    const path = new URL(c.req.url).pathname;
    if (path === '/mcp') return passOn(next);
    const link = readLinkPath(path);
    if (link) return serveLink(platform, { ...link, request: c.req.raw, mustBeWithinRate: useLink });
    const match = matchPath(path);
    const isRemoval = match?.place.routes.DELETE === removeAccountRoute && methodOf(c) === 'DELETE';
    const identity = await identify(c.req.header('authorization'), platform, isRemoval);
    if (identity) return serveKnown(c, identity, match);
    if (match) throw new AppError('E_UNAUTHORIZED', 'the key is missing, unknown, expired or revoked');
    return passOn(next);
  };

  function useLink(accountId: string): void {
    mustNotStop();
    mustBeWithinRate(accountId);
  }

  function mustNotStop(): void {
    if (isStopping()) throw new AppError('E_STOPPING', 'the server is stopping');
  }

  async function serveKnown(c: Context, identity: Identity, match: Match | undefined): Promise<Response> {
    mustNotStop();
    if (identity.kind === 'account') mustBeWithinRate(identity.actor.accountId);
    if (!match) throw new AppError('E_NOT_FOUND', 'there is nothing at this address');
    return serve(c, identity, match);
  }

  async function serve(c: Context, identity: Identity, match: Match): Promise<Response> {
    const actor = await toActor(identity, match, platform);
    const route = routeFor(match.place, methodOf(c));
    mustHaveScope(route, actor);
    if (!route.streams) await limitBody(c, route.large ? maxBodyBytes : Math.min(maxBodyBytes, maxRecordBytes));
    return handle(c, route, actor, match);
  }

  async function handle(c: Context, route: Route, actor: Actor, match: Match): Promise<Response> {
    const request = c.req.raw;
    const call: RouteCall = {
      actor,
      params: match.params,
      query: route.query ? readQuery(route.query, c.req.query()) : {},
      expect: route.conditional ? readIfMatch(request.headers.get('if-match')) : {},
      body: route.raw || !route.body ? {} : await readJson(request),
      request,
    };
    const answer = await (route.creates ? idempotency.once(route, call) : route.handle(platform, call));
    return answer instanceof Response ? answer : toResponse(c, route, answer);
  }

  function mustBeWithinRate(accountId: string): void {
    const seconds = requests.take(accountId);
    if (seconds === 0) return;
    throw new AppError('E_RATE_LIMITED', `more than ${requestsPerMinute} requests a minute of one account`, {
      details: { retryAfterSeconds: seconds },
    });
  }
}

async function passOn(next: Next): Promise<undefined> {
  await next();
}

function routeFor({ routes }: Place, method: string): Route {
  const route = routes[method as Method];
  if (route) return route;
  throw new AppError('E_METHOD_NOT_ALLOWED', 'Method not allowed', {
    details: { method, allowedMethods: Object.keys(routes) },
  });
}

function toResponse(c: Context, route: Route, { status, body, version, headers = {} }: Answer): Response {
  if (version !== undefined) c.header('ETag', toEtag(version));
  // What was answered to one key is for nobody else.
  c.header('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  return c.json(body, (status ?? route.status ?? 200) as ContentfulStatusCode);
}

/** What a HEAD would get is what a GET gets. */
function methodOf({ req }: Context): string {
  return req.method === 'HEAD' ? 'GET' : req.method;
}
