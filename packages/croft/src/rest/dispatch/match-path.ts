import { AppError } from '@croft/protocol';
import type { Audience, HttpMethod, Route } from '../platform/route.ts';
import { accountRoutes, adminRoutes } from '../routes/index.ts';

/** An address with its routes, and who may call them there. */
export interface RestEndpoint {
  /** Such as `/v1/sandboxes/{sandboxId}`. */
  readonly pattern: string;
  readonly segments: readonly string[];
  readonly audience: Audience;
  readonly routes: Partial<Record<HttpMethod, Route>>;
}

export interface EndpointMatch {
  readonly endpoint: RestEndpoint;
  readonly params: Readonly<Record<string, string>>;
}

export function noSuchAddress(): AppError {
  return new AppError('E_NOT_FOUND', 'there is nothing at this address', {
    hint: 'GET /openapi.json lists every address of this server.',
  });
}

/** Fixed segments come before parameters: `/accounts/me` is not the id of an account. */
export const endpoints: readonly RestEndpoint[] = toEndpoints([
  ...accountRoutes.map((route) => routeAt(`/v1${route.path}`, 'account', route)),
  ...accountRoutes.map((route) => routeAt(`/accounts/me${belowAccount(route)}`, 'account', route)),
  ...adminRoutes.map((route) => routeAt(route.path, 'admin', route)),
  ...accountRoutes
    .filter(({ mirrored }) => mirrored)
    .map((route) => routeAt(`/accounts/{accountId}${belowAccount(route)}`, 'admin', route)),
]);

const byLength = Map.groupBy(endpoints, ({ segments }) => segments.length);

/** `path` is still percent-encoded. */
export function matchPath(path: string): EndpointMatch | undefined {
  const given = path.replace(/\/+$/, '').split('/');
  for (const endpoint of byLength.get(given.length) ?? []) {
    const params = matchSegments(endpoint.segments, given);
    if (params) return { endpoint, params };
  }
  return undefined;
}

function matchSegments(pattern: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const text = given[index] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== text) return undefined;
      continue;
    }
    const value = decode(text);
    if (value === undefined || value === '') return undefined;
    params[segment.slice(1, -1)] = value;
  }
  return params;
}

/** Returns `undefined` for a NUL byte, which no name has and no store takes. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** Leaves out `/account`, because the address of the account itself already names it. */
function belowAccount({ path }: Route): string {
  return path.replace(/^\/account(?=\/|$)/, '');
}

interface RouteAt {
  readonly pattern: string;
  readonly audience: Audience;
  readonly route: Route;
}

function routeAt(pattern: string, audience: Audience, route: Route): RouteAt {
  return { pattern, audience, route };
}

function toEndpoints(mounted: readonly RouteAt[]): RestEndpoint[] {
  const byPattern = Object.groupBy(mounted, ({ pattern }) => pattern);
  return Object.entries(byPattern).map(([pattern, all = []]) => ({
    pattern,
    segments: pattern.split('/'),
    audience: all[0]?.audience ?? 'account',
    routes: Object.fromEntries(all.map(({ route }) => [route.method, route])),
  }));
}
