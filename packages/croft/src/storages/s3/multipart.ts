import { randomUUID } from 'node:crypto';
import type { PutCondition, PutOptions, Sendable } from '../../core/objects.ts';
import { fromSdk, ServiceRefusal } from './failures.ts';
import { headObject, type Wire } from './get-object.ts';
import { type EtagForm, isRefused, ownOrRefused, type PutResult } from './put-object.ts';
import { withRetries } from './retries.ts';
import { call, nameOf, type PartsWire, toAbort } from './sdk-call.ts';
import { type Part, sendParts } from './send-parts.ts';
import { encodeValue, unquote, writeMark } from './wire-heads.ts';

/**
 * In parts, several at a time, and taken back when one fails. The condition is looked at before the first and before the
 * last request, and sent with the last. A service that does not look at it there (Ceph) leaves a moment between the two
 * in which another writer is not seen.
 */
export async function putInParts(wire: PartsWire, key: string, body: Sendable, options: PutOptions, form: EtagForm) {
  const { expect, signal } = options;
  if (!(await holds(wire, key, expect, signal))) return 'refused';
  const mark = randomUUID();
  const uploadId = await begin(wire, key, { ...options, metadata: { ...options.metadata, [writeMark]: mark } });
  try {
    const parts = await sendParts(wire, key, uploadId, body, signal);
    const isStill = await holds(wire, key, expect, signal);
    const result = isStill ? await complete(wire, key, { uploadId, parts, mark, expect, form, signal }) : 'refused';
    if (result === 'refused') await abandon(wire, key, uploadId);
    return result;
  } catch (thrown) {
    await abandon(wire, key, uploadId);
    throw thrown;
  }
}

async function holds(
  wire: Wire,
  key: string,
  expect: PutCondition | undefined,
  signal?: AbortSignal,
): Promise<boolean> {
  if (expect === undefined) return true;
  const there = await headObject(wire, key, signal);
  return expect === 'absent' ? there === undefined : unquote(there?.headers.etag ?? '') === expect.etag;
}

async function begin(
  wire: PartsWire,
  key: string,
  { metadata = {}, contentType, signal }: PutOptions,
): Promise<string> {
  const { CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const encoded = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, encodeValue(value)]));
  const input = { ...nameOf(wire, key), Metadata: encoded, ContentType: contentType };
  const { UploadId = '' } = await call(wire, signal, (client, abort) =>
    client.send(new CreateMultipartUploadCommand(input), abort),
  );
  return UploadId;
}

interface Completion {
  readonly uploadId: string;
  readonly parts: Part[];
  readonly mark: string;
  readonly expect: PutCondition | undefined;
  readonly form: EtagForm;
  readonly signal: AbortSignal | undefined;
}

async function complete(wire: PartsWire, key: string, completion: Completion): Promise<PutResult> {
  const { CompleteMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const { uploadId, parts, mark, expect, form, signal } = completion;
  const condition = expect === 'absent' ? { IfNoneMatch: '*' } : toIfMatch(expect, form);
  const input = { ...nameOf(wire, key), ...condition, UploadId: uploadId, MultipartUpload: { Parts: parts } };
  let isUnsure = false;
  const isDone = await withRetries(wire.retries, signal, async () => {
    const client = await wire.sdk();
    const sending = client.send(new CompleteMultipartUploadCommand(input), toAbort(signal));
    const failure = await sending.then(() => undefined, fromSdk);
    const meaning = meaningOf(failure, expect);
    // One whose answer was lost has used the upload up.
    if (meaning === 'done' || (meaning !== 'unknown' && isUnsure)) return true;
    if (meaning === 'refused') return false;
    isUnsure = true;
    throw failure;
  });
  // Not every service says the ETag at once, and after a lost answer it may be another's.
  return isDone ? ownOrRefused(wire, key, mark, signal) : 'refused';
}

function meaningOf(failure: unknown, expect: PutCondition | undefined): 'done' | 'gone' | 'refused' | 'unknown' {
  if (failure === undefined) return 'done';
  if (!(failure instanceof ServiceRefusal)) return 'unknown';
  if (failure.code === 'NoSuchUpload') return 'gone';
  return isRefused(failure, expect) ? 'refused' : 'unknown';
}

function toIfMatch(expect: { readonly etag: string } | undefined, form: EtagForm): { IfMatch?: string } {
  return expect ? { IfMatch: form === 'bare' ? expect.etag : `"${expect.etag}"` } : {};
}

/** Parts that nobody completes cost room; what is left of them when this fails is the bucket's own to clear away. */
async function abandon(wire: PartsWire, key: string, uploadId: string): Promise<void> {
  const { AbortMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const command = new AbortMultipartUploadCommand({ ...nameOf(wire, key), UploadId: uploadId });
  const client = await wire.sdk();
  await client.send(command, toAbort(AbortSignal.timeout(5000))).catch(() => {});
}
