import { AppError, ErrorEnvelope } from '@croft/protocol';
import type { z } from 'zod';

export interface ClientOptions {
  readonly baseUrl: string;
  /** A key of an account, or the admin token. */
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
}

export interface Ask<Schema extends z.ZodType, Later extends z.ZodType> {
  readonly answer: Schema;
  /** What a 202 brings instead. */
  readonly accepted?: Later;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

export type Request = ReturnType<typeof createRequest>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request and what it is answered. Every failure is an `AppError` with the server's own code. */
export function createRequest({ baseUrl, token, fetch = globalThis.fetch }: ClientOptions) {
  return async function request<Schema extends z.ZodType, Later extends z.ZodType = Schema>(
    method: Method,
    path: string,
    { answer, accepted, body, query = {}, headers = {}, signal }: Ask<Schema, Later>,
  ): Promise<z.output<Schema> | z.output<Later>> {
    const url = new URL(path, baseUrl);
    for (const [name, value] of given(query)) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method,
      headers: toHeaders(headers, body),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (!response.ok) throw await toAppError(response);
    const schema = response.status === 202 ? (accepted ?? answer) : answer;
    return schema.parse(await response.json());
  };

  function toHeaders(headers: Readonly<Record<string, string | undefined>>, body: unknown): [string, string][] {
    return given({
      ...headers,
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      'content-type': body === undefined ? undefined : 'application/json',
    });
  }
}

/** A path with ids in it. An id that is no id must not lead somewhere else. */
export function path(texts: TemplateStringsArray, ...ids: readonly string[]): string {
  return texts.reduce((before, text, index) => `${before}${toSegment(ids[index - 1] ?? '')}${text}`);
}

function toSegment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new AppError('E_INVALID_INPUT', `${JSON.stringify(id)} is no id or name`);
  return encodeURIComponent(id);
}

function given<Value>(values: Readonly<Record<string, Value | undefined>>): [string, Value][] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** A proxy may answer with HTML, so a body we do not recognise is a failure of its own. */
async function toAppError(response: Response): Promise<AppError> {
  const body = ErrorEnvelope.safeParse(await response.json().catch(() => undefined));
  if (!body.success) return new AppError('E_INTERNAL', `the server answered ${response.status} without a reason`);
  const { code, message, details } = body.data.error;
  return new AppError(code, message, { details });
}
