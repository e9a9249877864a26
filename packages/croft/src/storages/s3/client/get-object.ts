import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { ObjectHead, ObjectStore, StoredObject } from '../../../core/storage/object-store.ts';
import { toHead } from './object-headers.ts';
import { readSmallBody } from './read-bounded-body.ts';
import { isTransient, readRefusal, ServiceRefusal, toStorageError } from './service-errors.ts';
import type { Transport } from './transport.ts';
import { type RetryPolicy, withRetries } from './with-retries.ts';

export interface BucketConnection {
  readonly transport: Transport;
  readonly retries: RetryPolicy;
  readonly bucket: string;
  /** Prefix of every key, with a slash at its end, or empty. */
  readonly prefix: string;
}

type GetOptions = NonNullable<Parameters<ObjectStore['get']>[1]>;

/** Smaller bodies are read at once, so that the connection is free whatever the caller does with the body. */
const maxSmallBytes = 256 * 1024;

export async function headObject(
  wire: BucketConnection,
  key: string,
  signal?: AbortSignal,
): Promise<IncomingMessage | undefined> {
  const { transport, retries, prefix } = wire;
  return withRetries(retries, signal, async () => {
    const response = await transport.send({ method: 'HEAD', key: prefix + key, signal });
    response.resume();
    if (response.statusCode === 200) return response;
    if (response.statusCode === 404) return undefined;
    throw new ServiceRefusal(response.statusCode ?? 0, '');
  });
}

export function getObject(
  wire: BucketConnection,
  key: string,
  options: GetOptions = {},
): ReturnType<ObjectStore['get']> {
  return withRetries(wire.retries, options.signal, async () => {
    const response = await requestObject(wire, key, options);
    const { statusCode } = response;
    if (statusCode === 200 || statusCode === 206) return toObject(wire, key, response, options);
    const refusal = await readRefusal(response);
    if (statusCode === 304) return 'unchanged';
    // Some services answer 404 without an error code.
    if (statusCode === 404 && /^(|NoSuchKey|NotFound)$/.test(refusal.code)) return undefined;
    if (statusCode === 416) throw new AppError('E_INVALID_INPUT', 'the range starts after the end of the file');
    throw refusal;
  });
}

function requestObject(
  { transport, prefix }: BucketConnection,
  key: string,
  options: GetOptions,
  ifMatch?: string,
): Promise<IncomingMessage> {
  const { unlessEtag, range, signal } = options;
  const headers = {
    ...(unlessEtag !== undefined && { 'if-none-match': `"${unlessEtag}"` }),
    ...(range && { range: `bytes=${range.start}-${range.end ?? ''}` }),
    ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }),
  };
  return transport.send({ method: 'GET', key: prefix + key, headers, signal });
}

async function toObject(
  wire: BucketConnection,
  key: string,
  response: IncomingMessage,
  options: GetOptions,
): Promise<StoredObject> {
  const head = toHead(key, response.headers);
  const length = Number(response.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (length > maxSmallBytes) return { ...head, body: Readable.from(resumed(wire, head, response, options)) };
  return { ...head, body: toStream(await readSmallBody(response)) };
}

/** Cheaper than `Readable.from`, which iterates. */
function toStream(bytes: Buffer): Readable {
  const stream = new Readable({ read() {} });
  if (bytes.length > 0) stream.push(bytes);
  stream.push(null);
  return stream;
}

/** Yields the body. If the connection breaks, continues at the same offset of the same object (`If-Match`). */
async function* resumed(wire: BucketConnection, head: ObjectHead, first: IncomingMessage, options: GetOptions) {
  let response = first;
  let at = options.range?.start ?? 0;
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        at += chunk.length;
        yield chunk;
      }
      return;
    } catch (thrown) {
      options.signal?.throwIfAborted();
      if (tries >= wire.retries.attempts || !isTransient(thrown)) throw toStorageError(thrown);
      const range = { ...options.range, start: at };
      response = await requestRest(wire, head, { range, signal: options.signal as AbortSignal });
    }
  }
}

async function requestRest(
  wire: BucketConnection,
  { key, etag }: ObjectHead,
  options: GetOptions,
): Promise<IncomingMessage> {
  return withRetries(wire.retries, options.signal, async () => {
    const response = await requestObject(wire, key, options, etag);
    if (response.statusCode === 206) return response;
    const refusal = await readRefusal(response);
    if (![404, 412, 416].includes(refusal.status)) throw refusal;
    throw new AppError('E_STORAGE_UNAVAILABLE', 'the file changed while it was read', {
      cause: refusal,
      hint: 'Nothing was changed here. Read the file again.',
    });
  });
}
