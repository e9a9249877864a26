import { randomUUID } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { PutCondition, PutObjectOptions, ResendableBody } from '../../../core/storage/object-store.ts';
import { type BucketConnection, headObject } from './get-object.ts';
import { toMetadataHeaders, unquote, writeMark } from './object-headers.ts';
import { type EtagForm, isRefused, type PutResult, recognizeOwnPut, toCondition } from './put-object.ts';
import { escapeText, namespace, readElement } from './s3-xml.ts';
import { sendParts, type UploadedPart } from './send-parts.ts';
import { readLateResult, readRefusal, ServiceRefusal } from './service-errors.ts';
import { withRetries } from './with-retries.ts';

const noBytes = new Uint8Array();

/**
 * Puts an object in parts, several at a time, and aborts the upload if one fails. The condition is checked before the
 * first and before the last request, and sent with the last one. A service that ignores it there (Ceph) leaves a moment
 * between check and request in which another writer goes unnoticed.
 */
export async function putInParts(
  wire: BucketConnection,
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
  wire: BucketConnection,
  key: string,
  { metadata = {}, contentType, signal }: PutObjectOptions,
): Promise<string> {
  const headers = {
    ...toMetadataHeaders(metadata),
    ...(contentType !== undefined && { 'content-type': contentType }),
  };
  const request = { method: 'POST', key: wire.prefix + key, query: { uploads: '' }, headers, body: noBytes } as const;
  const answer = await withRetries(wire.retries, signal, async () =>
    readLateResult(await wire.transport.send({ ...request, signal })),
  );
  const uploadId = readElement(answer, 'UploadId');
  if (uploadId === '') throw new AppError('E_STORAGE_FAILED', 'the storage did not begin an upload in parts');
  return uploadId;
}

interface Completion {
  readonly uploadId: string;
  readonly parts: UploadedPart[];
  readonly mark: string;
  readonly expect: PutCondition | undefined;
  readonly form: EtagForm;
  readonly signal: AbortSignal | undefined;
}

async function completeUpload(wire: BucketConnection, key: string, completion: Completion): Promise<PutResult> {
  const { uploadId, parts, mark, expect, form, signal } = completion;
  const query = { uploadId };
  const headers = { 'content-type': 'application/xml', ...(expect && toCondition(expect, form)) };
  const body = toPartList(parts);
  const request = { method: 'POST', key: wire.prefix + key, query, headers, body, signal } as const;
  let isUnsure = false;
  const isDone = await withRetries(wire.retries, signal, async () => {
    const failure = await wire.transport
      .send(request)
      .then(readLateResult)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
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

function toPartList(parts: readonly UploadedPart[]): Buffer {
  const entries = parts.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeText(etag)}</ETag></Part>`,
  );
  return Buffer.from(`<CompleteMultipartUpload xmlns="${namespace}">${entries.join('')}</CompleteMultipartUpload>`);
}

/** Uncompleted parts take up space. If this request fails too, the bucket's own lifecycle rules must remove them. */
async function abortUpload(wire: BucketConnection, key: string, uploadId: string): Promise<void> {
  const signal = AbortSignal.timeout(5000);
  const request = { method: 'DELETE', key: wire.prefix + key, query: { uploadId }, signal } as const;
  await wire.transport.send(request).then(readRefusal, () => {});
}
