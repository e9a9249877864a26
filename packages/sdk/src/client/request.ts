import type { z } from 'zod';
import { CroftError, toCroftError } from '../errors/croft-error.ts';

export interface ClientOptions {
  readonly baseUrl: string;
  /** A key of an account, or the admin token. */
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
}

/** A server and who the caller is. Found when the first request is sent. */
export interface ServerAccess {
  readonly baseUrl: string;
  readonly token?: string | undefined;
}

/** How requests reach a server. */
export interface Connection {
  access(): Promise<ServerAccess>;
  readonly fetch: typeof globalThis.fetch;
}

export function toConnection({ fetch = globalThis.fetch, ...access }: ClientOptions): Connection {
  return { fetch, access: async () => access };
}

export interface Ask<Schema extends z.ZodType, Later extends z.ZodType> {
  readonly answer: Schema;
  /** The schema of a 202 answer. */
  readonly accepted?: Later;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

export type Request = ReturnType<typeof createRequest>;
export type Send = ReturnType<typeof createSend>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Sent {
  /** Sent unchanged. */
  readonly body?: RequestInit['body'];
  readonly query?: Ask<z.ZodType, z.ZodType>['query'];
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends one request and returns the raw answer. Every refusal is a `CroftError` with the code of the server. */
export function createSend({ access, fetch }: Connection) {
  return async function send(
    method: Method | 'HEAD',
    path: string,
    { body, query = {}, headers = {}, signal }: Sent = {},
  ): Promise<Response> {
    const { baseUrl, token } = await access();
    const url = new URL(path, baseUrl);
    for (const [name, value] of given(query)) url.searchParams.set(name, String(value));
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    const response = await fetch(url, {
      method,
      headers: given({ ...headers, authorization }),
      // A stream is sent while it is read.
      ...(body !== undefined && ({ body, duplex: 'half' } as RequestInit)),
      ...(signal && { signal }),
    });
    if (!response.ok && response.status !== 304) throw await toCroftError(response);
    return response;
  };
}

/** Sends one JSON request and parses the answer. */
export function createRequest(connection: Connection) {
  const send = createSend(connection);
  return async function request<Schema extends z.ZodType, Later extends z.ZodType = Schema>(
    method: Method,
    path: string,
    { answer, accepted, body, query, headers, signal }: Ask<Schema, Later>,
  ): Promise<z.output<Schema> | z.output<Later>> {
    const response = await send(method, path, {
      body: body === undefined ? undefined : JSON.stringify(body),
      query,
      headers: { ...headers, 'content-type': body === undefined ? undefined : 'application/json' },
      signal,
    });
    const schema = response.status === 202 ? (accepted ?? answer) : answer;
    return schema.parse(await response.json());
  };
}

/** Makes a path with ids in it. An invalid id must not change the path. */
export function path(texts: TemplateStringsArray, ...ids: readonly string[]): string {
  return texts.reduce((before, text, index) => `${before}${toSegment(ids[index - 1] ?? '')}${text}`);
}

function toSegment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new CroftError('E_INVALID_INPUT', `${JSON.stringify(id)} is no id or name`);
  return encodeURIComponent(id);
}

function given<Value>(values: Readonly<Record<string, Value | undefined>>): [string, Value][] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}
