import { randomUUID } from 'node:crypto';
import type { PutCondition, PutObjectOptions, ResendableBody } from '../../../core/storage/object-store.ts';
import { type BucketConnection, headObject } from './get-object.ts';
import { encodeValue, unquote, writeMark } from './object-headers.ts';
import { type EtagForm, isRefused, type PutResult, recognizeOwnPut } from './put-object.ts';
import { withRetries } from './retries.ts';
import { callSdk, type SdkConnection, toAbort, toObjectName } from './sdk-call.ts';
import { sendParts, type UploadedPart } from './send-parts.ts';
import { fromSdk, ServiceRefusal } from './service-errors.ts';

/**
 * Puts an object in parts, several at a time, and aborts the upload if one fails. The condition is checked before the
 * first and before the last request, and sent with the last one. A service that ignores it there (Ceph) leaves a moment
 * between check and request in which another writer goes unnoticed.
 */
export async function putInParts(
  wire: SdkConnection,
  key: string,
  body: ResendableBody,
  options: PutObjectOptions,
  form: EtagForm,
) {
  const { expect, signal } = options;
  if (!(await isConditionMet(wire, key, expect, signal))) return 'refused';
  const mark = randomUUID();
  const uploadId = await beginUpload(wire, key, { ...options, metadata: { ...options.metadata, [writeMark]: mark } });
  try {
    const parts = await sendParts(wire, key, uploadId, body, signal);
    const isStill = await isConditionMet(wire, key, expect, signal);
    const result = isStill
      ? await completeUpload(wire, key, { uploadId, parts, mark, expect, form, signal })
      : 'refused';
    if (result === 'refused') await abortUpload(wire, key, uploadId);
    return result;
  } catch (thrown) {
    await abortUpload(wire, key, uploadId);
    throw thrown;
  }
}

async function isConditionMet(
  wire: BucketConnection,
  key: string,
  expect: PutCondition | undefined,
  signal?: AbortSignal,
): Promise<boolean> {
  if (expect === undefined) return true;
  const current = await headObject(wire, key, signal);
  return expect === 'absent' ? current === undefined : unquote(current?.headers.etag ?? '') === expect.etag;
}

async function beginUpload(
  wire: SdkConnection,
  key: string,
  { metadata = {}, contentType, signal }: PutObjectOptions,
): Promise<string> {
  const { CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const encoded = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, encodeValue(value)]));
  const input = { ...toObjectName(wire, key), Metadata: encoded, ContentType: contentType };
  const { UploadId = '' } = await callSdk(wire, signal, (client, abort) =>
    client.send(new CreateMultipartUploadCommand(input), abort),
  );
  return UploadId;
}

interface Completion {
  readonly uploadId: string;
  readonly parts: UploadedPart[];
  readonly mark: string;
  readonly expect: PutCondition | undefined;
  readonly form: EtagForm;
  readonly signal: AbortSignal | undefined;
}

async function completeUpload(wire: SdkConnection, key: string, completion: Completion): Promise<PutResult> {
  const { CompleteMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const { uploadId, parts, mark, expect, form, signal } = completion;
  const condition = expect === 'absent' ? { IfNoneMatch: '*' } : toIfMatch(expect, form);
  const input = { ...toObjectName(wire, key), ...condition, UploadId: uploadId, MultipartUpload: { Parts: parts } };
  let isUnsure = false;
  const isDone = await withRetries(wire.retries, signal, async () => {
    const client = await wire.sdk();
    const sending = client.send(new CompleteMultipartUploadCommand(input), toAbort(signal));
    const failure = await sending.then(() => undefined, fromSdk);
    const meaning = meaningOf(failure, expect);
    // `NoSuchUpload` or a refusal after a lost answer means that the lost request completed the upload.
    if (meaning === 'done' || (meaning !== 'unknown' && isUnsure)) return true;
    if (meaning === 'refused') return false;
    isUnsure = true;
    throw failure;
  });
  // Some services do not return the ETag here, and after a lost answer the object may be somebody else's.
  return isDone ? recognizeOwnPut(wire, key, mark, signal) : 'refused';
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

/** Uncompleted parts take up space. If this request fails too, the bucket's own lifecycle rules must remove them. */
async function abortUpload(wire: SdkConnection, key: string, uploadId: string): Promise<void> {
  const { AbortMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const command = new AbortMultipartUploadCommand({ ...toObjectName(wire, key), UploadId: uploadId });
  const client = await wire.sdk();
  await client.send(command, toAbort(AbortSignal.timeout(5000))).catch(() => {});
}
