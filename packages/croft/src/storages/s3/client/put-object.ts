import { randomUUID } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { PutCondition, PutObjectOptions, ResendableBody } from '../../../core/storage/object-store.ts';
import { type BucketConnection, headObject } from './get-object.ts';
import { markOf, toMetadataHeaders, unquote, writeMark } from './object-headers.ts';
import { readSmallBody } from './read-bounded-body.ts';
import { readRefusal, type ServiceRefusal } from './service-errors.ts';
import { withRetries } from './with-retries.ts';

export type PutResult = { etag: string } | 'refused';

/** How this service wants an ETag in `If-Match`: AWS accepts both forms, Ceph refuses the quoted one. */
export type EtagForm = 'bare' | 'quoted';

/** Puts an object with one request. */
export async function putWhole(
  wire: BucketConnection,
  key: string,
  body: ResendableBody,
  options: PutObjectOptions,
  form: EtagForm,
): Promise<PutResult> {
  const { expect, signal } = options;
  const bytes = await collect(body);
  const mark = randomUUID();
  const headers = toHeaders(options, mark, form);
  let isUnsure = false;
  return withRetries(wire.retries, signal, async () => {
    const answer = await putOnce(wire, key, bytes, headers, signal).catch((thrown) => {
      isUnsure = true;
      throw thrown;
    });
    if ('etag' in answer) return answer;
    if (isRefused(answer, expect)) return isUnsure ? recognizeOwnPut(wire, key, mark, signal) : 'refused';
    // The service may have stored the object although it answered with an error.
    isUnsure = answer.status >= 500 || isUnsure;
    throw answer;
  });
}

export async function putOnce(
  { transport, prefix }: BucketConnection,
  key: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<{ etag: string } | ServiceRefusal> {
  const response = await transport.send({ method: 'PUT', key: prefix + key, headers, body, signal });
  if (response.statusCode !== 200) return readRefusal(response);
  await readSmallBody(response);
  return { etag: unquote(response.headers.etag ?? '') };
}

export function isRefused({ status, code }: ServiceRefusal, expect: PutCondition | undefined): boolean {
  if (expect === undefined) return false;
  // Some services answer 404 if the object to be matched is gone.
  return status === 412 || (status === 404 && expect !== 'absent' && code !== 'NoSuchBucket');
}

/** After a lost answer: checks by the mark whether the object is the one we put. */
export async function recognizeOwnPut(
  wire: BucketConnection,
  key: string,
  mark: string,
  signal?: AbortSignal,
): Promise<PutResult> {
  const current = await headObject(wire, key, signal);
  return current && markOf(current.headers) === mark ? { etag: unquote(current.headers.etag ?? '') } : 'refused';
}

function toHeaders(
  { metadata, expect, contentType }: PutObjectOptions,
  mark: string,
  form: EtagForm,
): Record<string, string> {
  const marked = expect === undefined ? { ...metadata } : { ...metadata, [writeMark]: mark };
  return {
    ...toMetadataHeaders(marked),
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(expect !== undefined && toCondition(expect, form)),
  };
}

export function toCondition(expect: PutCondition, form: EtagForm): Record<string, string> {
  if (expect === 'absent') return { 'if-none-match': '*' };
  return { 'if-match': form === 'bare' ? expect.etag : `"${expect.etag}"` };
}

async function collect(body: ResendableBody): Promise<Uint8Array> {
  const opened = body.open();
  const bytes = opened instanceof Uint8Array ? opened : Buffer.concat(await Array.fromAsync(opened));
  if (bytes.length !== body.size) throw sizeDiffers();
  return bytes;
}

export function sizeDiffers(): AppError {
  return new AppError('E_STALE', 'the file changed while it was sent');
}
