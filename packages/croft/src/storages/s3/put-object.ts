import { randomUUID } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { PutCondition, PutOptions, Sendable } from '../../core/objects.ts';
import { readRefusal, type ServiceRefusal } from './failures.ts';
import { headObject, type Wire } from './get-object.ts';
import { readWhole } from './read-whole.ts';
import { withRetries } from './retries.ts';
import { markOf, toMetadataHeaders, unquote, writeMark } from './wire-heads.ts';

export type PutResult = { etag: string } | 'refused';

/** How this service wants an ETag in `If-Match`: AWS takes both, Ceph refuses the one with quotes. */
export type EtagForm = 'bare' | 'quoted';

/** One request. */
export async function putWhole(
  wire: Wire,
  key: string,
  body: Sendable,
  options: PutOptions,
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
    if (isRefused(answer, expect)) return isUnsure ? ownOrRefused(wire, key, mark, signal) : 'refused';
    // It may have been done although it was answered so.
    isUnsure = answer.status >= 500 || isUnsure;
    throw answer;
  });
}

export async function putOnce(
  { transport, prefix }: Wire,
  key: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<{ etag: string } | ServiceRefusal> {
  const response = await transport.send({ method: 'PUT', key: prefix + key, headers, body, signal });
  if (response.statusCode !== 200) return readRefusal(response);
  await readWhole(response);
  return { etag: unquote(response.headers.etag ?? '') };
}

export function isRefused({ status, code }: ServiceRefusal, expect: PutCondition | undefined): boolean {
  if (expect === undefined) return false;
  // What is gone is not what was expected either; some services say so.
  return status === 412 || (status === 404 && expect !== 'absent' && code !== 'NoSuchBucket');
}

/** After an answer was lost: whether what is there is what we put. */
export async function ownOrRefused(wire: Wire, key: string, mark: string, signal?: AbortSignal): Promise<PutResult> {
  const there = await headObject(wire, key, signal);
  return there && markOf(there.headers) === mark ? { etag: unquote(there.headers.etag ?? '') } : 'refused';
}

function toHeaders(
  { metadata, expect, contentType }: PutOptions,
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

async function collect(body: Sendable): Promise<Uint8Array> {
  const opened = body.open();
  const bytes = opened instanceof Uint8Array ? opened : Buffer.concat(await Array.fromAsync(opened));
  if (bytes.length !== body.size) throw sizeDiffers();
  return bytes;
}

export function sizeDiffers(): AppError {
  return new AppError('E_STALE', 'the file changed while it was sent');
}
