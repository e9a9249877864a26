import type { Audience, Method, Route } from './route.ts';
import { accountRoutes, adminRoutes } from './routes/index.ts';

/** A place where routes are, and who they are for there. */
export interface Place {
  /** As `/v1/sandboxes/{sandboxId}`. */
  readonly pattern: string;
  readonly segments: readonly string[];
  readonly audience: Audience;
  readonly routes: Partial<Record<Method, Route>>;
}

export interface Match {
  readonly place: Place;
  readonly params: Readonly<Record<string, string>>;
}

/** What is written out comes before what is filled in: `/accounts/me` is no account's id. */
export const places: readonly Place[] = toPlaces([
  ...accountRoutes.map((route) => mount(`/v1${route.path}`, 'account', route)),
  ...accountRoutes.map((route) => mount(`/accounts/me${belowAccount(route)}`, 'account', route)),
  ...adminRoutes.map((route) => mount(route.path, 'admin', route)),
  ...accountRoutes
    .filter(({ mirrored }) => mirrored)
    .map((route) => mount(`/accounts/{accountId}${belowAccount(route)}`, 'admin', route)),
]);

/** `path` as it came over the wire. */
export function matchPath(path: string): Match | undefined {
  const given = path.replace(/\/+$/, '').split('/');
  for (const place of places) {
    const params = matchSegments(place.segments, given);
    if (params) return { place, params };
  }
  return undefined;
}

function matchSegments(pattern: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== given.length) return undefined;
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

/** No name has a NUL in it, and no store takes one. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** The account itself is where its id is. */
function belowAccount({ path }: Route): string {
  return path.replace(/^\/account(?=\/|$)/, '');
}

interface Mounted {
  readonly pattern: string;
  readonly audience: Audience;
  readonly route: Route;
}

function mount(pattern: string, audience: Audience, route: Route): Mounted {
  return { pattern, audience, route };
}

function toPlaces(mounted: readonly Mounted[]): Place[] {
  const byPattern = Object.groupBy(mounted, ({ pattern }) => pattern);
  return Object.entries(byPattern).map(([pattern, all = []]) => ({
    pattern,
    segments: pattern.split('/'),
    audience: all[0]?.audience ?? 'account',
    routes: Object.fromEntries(all.map(({ route }) => [route.method, route])),
  }));
}
