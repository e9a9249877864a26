import type { ErrorBody } from '@croft/protocol';
import { signal } from '@preact/signals';

type RequestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Body that is sent unchanged. */
  readonly raw?: BodyInit | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A failed request: the server's error, or that the server did not answer. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: string;
  readonly hint: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** Id of the request, by which the operator finds it. */
  readonly requestId: string | undefined;

  constructor(
    body: Pick<ErrorBody, 'message' | 'hint' | 'details'> & { code: string },
    status = 0,
    requestId?: string,
  ) {
    super(body.message);
    this.code = body.code;
    this.hint = body.hint;
    this.details = body.details;
    this.status = status;
    this.requestId = requestId;
  }

  /** The same failure, in words for a person at this page. */
  inWords(message: string, hint: string): RequestError {
    return new RequestError({ code: this.code, message, hint, details: this.details }, this.status, this.requestId);
  }
}

/** Anything thrown, as an error that can be shown. */
export function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new RequestError({
    code: 'E_PAGE',
    message,
    hint: 'Reload the page, and look whether the change was made before you make it again.',
    details: {},
  });
}

const unreachable = {
  code: 'E_UNREACHABLE',
  message: 'the server does not answer',
  hint: 'See that it runs and that this machine reaches it. The page tries again by itself.',
  details: {},
};

const mayHaveRun = 'The change may have been made. See that the server runs, and look before you make it again.';

/** The last error that said that nobody is signed in. */
export const signedOut = signal<RequestError | undefined>(undefined);

/** Sends one request with the cookie of the session. A page of another site cannot set the header `croft-page`. */
export async function send(method: RequestMethod, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, raw, headers = {}, signal } = options;
  const response = await fetch(path + toSearch(query), {
    method,
    headers: { 'croft-page': '1', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined ? { body: JSON.stringify(body) } : raw !== undefined ? { body: raw } : {}),
    ...(signal && { signal }),
  }).catch((thrown: unknown) => {
    if (signal?.aborted) throw thrown;
    throw new RequestError(method === 'GET' ? unreachable : { ...unreachable, hint: mayHaveRun });
  });
  if (response.ok) return response;
  const failure = await readFailure(response, method === 'GET' ? unreachable.hint : mayHaveRun);
  if (failure.status === 401) signedOut.value = failure;
  throw failure;
}

/** Sends one request and reads the answer, which the server has validated. */
export async function request<Answer>(method: RequestMethod, path: string, options?: RequestOptions): Promise<Answer> {
  const response = await send(method, path, options);
  return (await response.json()) as Answer;
}

/** A part of an address. An id from elsewhere must not lead to another route. */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new RangeError(`${JSON.stringify(id)} is no id`);
  return encodeURIComponent(id);
}

export function toSearch(query: RequestOptions['query'] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

async function readFailure(response: Response, hint: string): Promise<RequestError> {
  const answer = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | undefined;
  const id = response.headers.get('x-request-id') ?? undefined;
  const body = answer?.error ?? {
    ...unreachable,
    hint,
    message: `the server answered ${response.status} without a reason`,
  };
  return new RequestError(body, response.status, id);
}
