import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { ObjectHead, ObjectStore, StoredObject } from '../../core/objects.ts';
import { isPassing, readRefusal, ServiceRefusal, toStorageError } from './failures.ts';
import { readWhole } from './read-whole.ts';
import { type RetryPolicy, withRetries } from './retries.ts';
import type { Transport } from './transport.ts';
import { toHead } from './wire-heads.ts';

export interface Wire {
  readonly transport: Transport;
  readonly retries: RetryPolicy;
  /** Before every key, with the slash at its end; or empty. */
  readonly prefix: string;
}

type GetOptions = NonNullable<Parameters<ObjectStore['get']>[1]>;

/** Taken in whole at once: its connection is free again whatever becomes of it. */
const maxSmallBytes = 256 * 1024;

export async function headObject(wire: Wire, key: string, signal?: AbortSignal): Promise<IncomingMessage | undefined> {
  const { transport, retries, prefix } = wire;
  return withRetries(retries, signal, async () => {
    const response = await transport.send({ method: 'HEAD', key: prefix + key, signal });
    response.resume();
    if (response.statusCode === 200) return response;
    if (response.statusCode === 404) return undefined;
    throw new ServiceRefusal(response.statusCode ?? 0, '');
  });
}

export function getObject(wire: Wire, key: string, options: GetOptions = {}): ReturnType<ObjectStore['get']> {
  return withRetries(wire.retries, options.signal, async () => {
    const response = await ask(wire, key, options);
    const { statusCode } = response;
    if (statusCode === 200 || statusCode === 206) return toObject(wire, key, response, options);
    const refusal = await readRefusal(response);
    if (statusCode === 304) return 'unchanged';
    // Some say nothing of what is not there.
    if (statusCode === 404 && /^(|NoSuchKey|NotFound)$/.test(refusal.code)) return undefined;
    if (statusCode === 416) throw new AppError('E_INVALID_INPUT', 'the range starts behind the end of the file');
    throw refusal;
  });
}

function ask(
  { transport, prefix }: Wire,
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
  wire: Wire,
  key: string,
  response: IncomingMessage,
  options: GetOptions,
): Promise<StoredObject> {
  const head = toHead(key, response.headers);
  const length = Number(response.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (length > maxSmallBytes) return { ...head, body: Readable.from(resumed(wire, head, response, options)) };
  return { ...head, body: toStream(await readWhole(response)) };
}

/** Cheaper than `Readable.from`, which iterates. */
function toStream(bytes: Buffer): Readable {
  const stream = new Readable({ read() {} });
  if (bytes.length > 0) stream.push(bytes);
  stream.push(null);
  return stream;
}

/** A body that was cut goes on where it was, of the very same object. */
async function* resumed(wire: Wire, head: ObjectHead, first: IncomingMessage, options: GetOptions) {
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
      if (tries >= wire.retries.attempts || !isPassing(thrown)) throw toStorageError(thrown);
      const range = { ...options.range, start: at };
      response = await again(wire, head, { range, signal: options.signal as AbortSignal });
    }
  }
}

async function again(wire: Wire, { key, etag }: ObjectHead, options: GetOptions): Promise<IncomingMessage> {
  return withRetries(wire.retries, options.signal, async () => {
    const response = await ask(wire, key, options, etag);
    if (response.statusCode === 206) return response;
    const refusal = await readRefusal(response);
    if (![404, 412, 416].includes(refusal.status)) throw refusal;
    throw new AppError('E_STORAGE_UNAVAILABLE', 'the file changed while it was read', { cause: refusal });
  });
}
