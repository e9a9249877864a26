import type { IncomingMessage } from 'node:http';
import { AppError } from '@croft/protocol';
import { BucketUnreachable } from './circuit-breaker.ts';
import { RefusedAddress } from './endpoint-addresses.ts';
import { readSmallBody } from './read-bounded-body.ts';
import { readElement } from './s3-xml.ts';

/** The service answered, but with an error or redirect status. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal';
  readonly status: number;
  /** The error code of the service, such as `AccessDenied`, or empty. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = /^(?!Unknown)[A-Za-z]{1,60}$/.test(code) ? code : '';
  }
}

const maxRefusalBytes = 16 * 1024;

export async function readRefusal(response: IncomingMessage): Promise<ServiceRefusal> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) if (text.length < maxRefusalBytes) text += chunk;
  return new ServiceRefusal(response.statusCode ?? 0, /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '');
}

/**
 * Reads the answer of a request that may take long (copy, complete). The service sends the status 200 before it is done,
 * so an error can follow in the body. Throws a `ServiceRefusal` for it, and for an empty body: the work was not done.
 */
export async function readLateResult(response: IncomingMessage): Promise<string> {
  if (response.statusCode !== 200) throw await readRefusal(response);
  const text = (await readSmallBody(response)).toString().trim();
  if (text === '' || text.endsWith('</Error>')) throw new ServiceRefusal(503, readElement(text, 'Code'));
  return text;
}

const transientCodes = new Set(['SlowDown', 'RequestTimeout', 'ConditionalRequestConflict', 'OperationAborted']);

/** Whether the same request may succeed in a moment. */
export function isTransient(thrown: unknown): boolean {
  if (AppError.is(thrown) || thrown instanceof BucketUnreachable || isRefusedAddress(thrown)) return false;
  if (!(thrown instanceof ServiceRefusal)) return isOutage(thrown);
  const { status, code } = thrown;
  return transientCodes.has(code) || status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** Socket errors and time-outs have a code; a bug of ours has none. */
function isOutage(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return typeof (thrown as NodeJS.ErrnoException).code === 'string' || thrown.name === 'TimeoutError';
}

function isRefusedAddress(thrown: unknown): boolean {
  return thrown instanceof RefusedAddress || (thrown instanceof Error && thrown.cause instanceof RefusedAddress);
}

/** Converts an error for the caller. The message contains no host, key or signature. */
export function toStorageError(cause: unknown): unknown {
  if (AppError.is(cause)) return cause;
  if (isRefusedAddress(cause)) return failed('the endpoint leads to an address that is not allowed', cause);
  if (cause instanceof ServiceRefusal) return fromRefusal(cause);
  if (isOutage(cause)) return new AppError('E_STORAGE_UNAVAILABLE', 'the storage does not answer', { cause });
  return cause;
}

function fromRefusal(cause: ServiceRefusal): AppError {
  const { status, code } = cause;
  const known = code === '' ? `status ${status}` : code;
  if (/Quota/.test(code) || status === 507)
    return new AppError('E_STORAGE_FULL', `the storage is full (${known})`, { cause });
  if (isTransient(cause)) {
    return new AppError('E_STORAGE_UNAVAILABLE', `the storage cannot answer the request now (${known})`, { cause });
  }
  return failed(`the storage refused the request (${known})${adviceFor(cause)}`, cause);
}

function adviceFor({ status, code }: ServiceRefusal): string {
  if (code === 'NoSuchBucket') return ': there is no such bucket';
  if (code === 'RequestTimeTooSkewed') return ': the clock of this server is wrong';
  if (code === 'KeyTooLongError') return ': the path is too long for the storage';
  if (status === 401 || status === 403) return ': the credentials of the bucket lack the right';
  if (status >= 300 && status < 400) return ': the bucket is in another region or at another endpoint';
  return '';
}

function failed(message: string, cause: unknown): AppError {
  return new AppError('E_STORAGE_FAILED', message, { cause });
}
