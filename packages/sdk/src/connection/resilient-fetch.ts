import { CroftError, toSeconds } from '../errors/croft-error.ts';

export interface RetryOptions {
  /** How often a request is sent again. Default: 3. */
  readonly retries?: number | undefined;
}

type Fetch = typeof globalThis.fetch;

/** Statuses of a proxy whose server is away. */
const away: ReadonlySet<number> = new Set([502, 503, 504]);
const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
/** Failures before a connection exists: nothing was sent. */
const unconnected: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);
/** A server that asks for a longer pause gets an error instead: waiting is the caller's decision. */
const longestPauseSeconds = 60;
const firstPauseMs = 100;

/**
 * Sends a request again where that repeats nothing: always if no connection was made or the server refused the rate,
 * and otherwise only if the method or its key makes a second request harmless. So a tool call never runs twice.
 */
export function createResilientFetch(fetch: Fetch, { retries = 3 }: RetryOptions = {}): Fetch {
  return async (input, init = {}) => {
    for (let attempt = 0; ; attempt++) {
      const answer = await fetch(input, init).catch((thrown) => toFailure(thrown, init, String(input)));
      const mayRepeat = attempt < retries && !(init.body instanceof ReadableStream);
      const pauseMs = mayRepeat ? pauseBefore(answer, init, attempt) : undefined;
      if (pauseMs === undefined) return toAnswer(answer);
      await drop(answer);
      await pause(pauseMs, init.signal ?? undefined);
    }
  };
}

function toAnswer(answer: Response | Failure): Response {
  if (answer instanceof Response) return answer;
  throw answer.error;
}

async function drop(answer: Response | Failure): Promise<void> {
  if (answer instanceof Response) await answer.body?.cancel();
}

interface Failure {
  readonly error: CroftError;
}

/** `undefined`: the request is not sent again. */
function pauseBefore(answer: Response | Failure, init: RequestInit, attempt: number): number | undefined {
  const usualMs = firstPauseMs * 4 ** attempt;
  if (!(answer instanceof Response))
    return answer.error.code === 'E_UNREACHABLE' || isHarmless(init) ? usualMs : undefined;
  const seconds = toSeconds(answer.headers.get('retry-after'));
  if (answer.status === 429) {
    const asked = seconds ?? usualMs / 1000;
    return asked <= longestPauseSeconds ? asked * 1000 : undefined;
  }
  return away.has(answer.status) && isHarmless(init) ? usualMs : undefined;
}

function isHarmless({ method = 'GET', headers }: RequestInit): boolean {
  return repeatable.has(method) || new Headers(headers).has('idempotency-key');
}

/** Converts what `fetch` throws into an error of the SDK. An abort is thrown as it is. */
function toFailure(thrown: unknown, { signal, method = 'GET' }: RequestInit, address: string): Failure {
  if (signal?.aborted) throw thrown;
  if (CroftError.is(thrown)) return { error: thrown };
  const { origin, pathname } = new URL(address);
  const reason = reasonOf(thrown);
  const error = isUnconnected(thrown)
    ? new CroftError('E_UNREACHABLE', `${origin} cannot be reached: ${reason}`, { cause: thrown })
    : new CroftError('E_CONNECTION_LOST', `the connection broke during ${method} ${pathname}: ${reason}`, {
        cause: thrown,
      });
  return { error };
}

function isUnconnected(thrown: unknown): boolean {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && unconnected.has(cause.code)) return true;
    if (cause instanceof AggregateError && cause.errors.some(isUnconnected)) return true;
  }
  return false;
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? thrown.cause.message || thrown.message : thrown.message;
}

/** Rejects with the reason of the signal. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
