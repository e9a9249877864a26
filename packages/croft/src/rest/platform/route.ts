import type { ErrorCode, RestSchema } from '@croft/protocol';
import type { SessionHolder } from '../../core/accounts/keys/browser-sessions.ts';
import type { Actor, ExpectedVersion, Scope } from '../../core/accounts/ports/registry.ts';
import type { SessionCookie } from '../http/session-cookie.ts';
import type { RestPlatform } from './rest-platform.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The callers of a route: a key of the account, or the admin. */
export type Audience = 'account' | 'admin';

export interface RouteCall<Params = Readonly<Record<string, string>>, Query = unknown> {
  readonly actor: Actor;
  readonly params: Params;
  readonly query: Query;
  /** The parsed body; `{}` without a body. */
  readonly body: unknown;
  /** The version that the caller expects, from `If-Match`. */
  readonly expect: ExpectedVersion;
  readonly request: Request;
  /** The key of the caller, and the browser session that the request came with. */
  readonly caller: CallerSession;
  readonly cookie: SessionCookie;
  /** Whether the caller's key or browser session is still good, for answers that outlive the request. */
  isStillAllowed(): Promise<boolean>;
}

export interface CallerSession {
  /** Absent for the admin in an account. */
  readonly holder?: SessionHolder | undefined;
  readonly session?: { readonly secret: string; readonly expiresAt: string } | undefined;
}

export interface RouteAnswer {
  /** Without it, the declared status. */
  readonly status?: number | undefined;
  readonly body: unknown;
  /** The version of the record in `body`, which becomes the `ETag`. */
  readonly version?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface Declaration {
  readonly method: HttpMethod;
  readonly summary: string;
  /** Any one of these scopes is enough. `*` alone requires a key for everything. */
  readonly scopes: readonly Scope[];
  /** The schema of the body, for `openapi.json`. The handler validates the body itself. */
  readonly body?: RestSchema | undefined;
  readonly status?: number | undefined;
  /** The schema of the answer. Without it, the answer is not JSON of Croft. */
  readonly answer?: RestSchema | undefined;
  /** The answer to `Accept: text/event-stream`: server-sent events, each of them this in JSON. */
  readonly followed?: RestSchema | undefined;
  /** Further answers that are not failures, by status. */
  readonly alsoAnswers?: Readonly<Record<number, RestSchema>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly failures?: readonly ErrorCode[] | undefined;
  /** The route creates something and supports `Idempotency-Key`. */
  readonly creates?: true | undefined;
  /** The answer is a record with an `ETag`. */
  readonly versioned?: true | undefined;
  /** The route checks `If-Match`. */
  readonly conditional?: true | undefined;
  /** A key that is bound to agents may call the route too: everything it returns and does belongs to those agents. */
  readonly ofAgents?: true | undefined;
  /** The operator may call the route too, for the workspaces that flags name. */
  readonly ofFlags?: true | undefined;
  /** The route signs a browser in: a code of a sign-in link counts, and the admin token stands for the operator. */
  readonly signsIn?: true | undefined;
  /** A browser session does not count. */
  readonly forPrograms?: true | undefined;
  /** The admin may call the route too, in any account. */
  readonly mirrored?: true | undefined;
  /** The body may be as large as the server accepts at all. */
  readonly large?: true | undefined;
  /** The handler reads the request itself. */
  readonly raw?: true | undefined;
  /** The handler reads the body as a stream and limits it itself. */
  readonly streams?: true | undefined;
  /** Media types of the body and the answer, if they are not JSON. */
  readonly bodyType?: string | undefined;
  readonly answerType?: string | undefined;
}

export interface Route extends Declaration {
  readonly path: string;
  readonly query?: RestSchema | undefined;
  handle(platform: RestPlatform, call: RouteCall): Promise<RouteAnswer | Response>;
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown;

interface TypedRoute<Path extends string, Query> extends Declaration {
  readonly path: Path;
  readonly query?: RestSchema<Query> | undefined;
  handle(platform: RestPlatform, call: RouteCall<ParamsOf<Path>, Query>): Promise<RouteAnswer | Response>;
}

/** Declares one route. Both the server's behaviour and `openapi.json` come from this declaration alone. */
export function defineRoute<const Path extends string, Query = unknown>(route: TypedRoute<Path, Query>): Route {
  // The matcher has filled in every parameter of the path, and the schema has parsed the query.
  return { ...route, handle: (platform, call) => route.handle(platform, call as RouteCall<ParamsOf<Path>, Query>) };
}
