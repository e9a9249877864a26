import type { ErrorCode, RestSchema } from '@croft/protocol';
import type { Actor, Expectation, Scope } from '../core/accounts/registry.ts';
import type { Platform } from './platform.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may call it: a key of the account it is about, or the admin. */
export type Audience = 'account' | 'admin';

export interface RouteCall<Params = Readonly<Record<string, string>>, Query = unknown> {
  readonly actor: Actor;
  readonly params: Params;
  readonly query: Query;
  /** As it came; `{}` when nothing did. */
  readonly body: unknown;
  /** From `If-Match`. */
  readonly expect: Expectation;
  readonly request: Request;
}

export interface Answer {
  /** Left out: the one that is declared. */
  readonly status?: number | undefined;
  readonly body: unknown;
  /** Of the record in `body`; becomes its `ETag`. */
  readonly version?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface Declaration {
  readonly method: Method;
  readonly summary: string;
  /** Any one of them is enough; `*` alone means that nothing less is. */
  readonly scopes: readonly Scope[];
  /** What the body is, for the reader. Who handles it judges it, in its own words. */
  readonly body?: RestSchema | undefined;
  readonly status?: number | undefined;
  /** Left out: the answer is not JSON of ours. */
  readonly answer?: RestSchema | undefined;
  /** Other answers that are no failure. */
  readonly alsoAnswers?: Readonly<Record<number, RestSchema>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly failures?: readonly ErrorCode[] | undefined;
  /** Makes something, so that an `Idempotency-Key` is heeded. */
  readonly creates?: true | undefined;
  /** Answers a record that has an `ETag`. */
  readonly versioned?: true | undefined;
  /** Judges `If-Match`. */
  readonly conditional?: true | undefined;
  /** Also for the admin, in an account of their choice. */
  readonly mirrored?: true | undefined;
  /** The body may be as large as the server takes at all. */
  readonly large?: true | undefined;
  /** The handler reads the request itself. */
  readonly raw?: true | undefined;
  /** The handler takes the body as it comes, and bounds it itself. */
  readonly streams?: true | undefined;
  /** What the body is, and what the answer, where that is not JSON: a media type. */
  readonly bodyType?: string | undefined;
  readonly answerType?: string | undefined;
}

export interface Route extends Declaration {
  readonly path: string;
  readonly query?: RestSchema | undefined;
  handle(platform: Platform, call: RouteCall): Promise<Answer | Response>;
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : unknown;

interface TypedRoute<Path extends string, Query> extends Declaration {
  readonly path: Path;
  readonly query?: RestSchema<Query> | undefined;
  handle(platform: Platform, call: RouteCall<ParamsOf<Path>, Query>): Promise<Answer | Response>;
}

/** Declares one route: what the server does and what `openapi.json` says come from here alone. */
export function defineRoute<const Path extends string, Query = unknown>(route: TypedRoute<Path, Query>): Route {
  // The matcher fills in every name the path has, and the query is parsed by its schema before it gets here.
  return { ...route, handle: (platform, call) => route.handle(platform, call as RouteCall<ParamsOf<Path>, Query>) };
}
