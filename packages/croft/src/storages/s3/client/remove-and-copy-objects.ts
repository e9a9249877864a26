import { createHash } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { BucketConnection } from './get-object.ts';
import { unquote } from './object-headers.ts';
import { readSmallBody } from './read-bounded-body.ts';
import { escapeText, namespace, readElement, splitElements } from './s3-xml.ts';
import { readLateResult, readRefusal, ServiceRefusal } from './service-errors.ts';
import { encodeKey } from './signature.ts';
import { withRetries } from './with-retries.ts';

const maxAtOnce = 1000;
const singlesAtOnce = 16;

export async function removeObjects(
  wire: BucketConnection,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (keys.length <= 2) return removeEach(wire, keys, signal);
  for (let at = 0; at < keys.length; at += maxAtOnce) {
    const batch = keys.slice(at, at + maxAtOnce);
    await removeEach(wire, await removeTogether(wire, batch, signal), signal);
  }
}

/** Returns the keys that were not removed. */
async function removeTogether(
  wire: BucketConnection,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const objects = keys.map((key) => `<Object><Key>${escapeText(wire.prefix + key)}</Key></Object>`);
  const body = Buffer.from(`<Delete xmlns="${namespace}"><Quiet>true</Quiet>${objects.join('')}</Delete>`);
  // The request is refused without this hash, although the signature covers the body as well.
  const headers = { 'content-md5': createHash('md5').update(body).digest('base64'), 'content-type': 'application/xml' };
  try {
    const answer = await withRetries(wire.retries, signal, async () => {
      const request = { method: 'POST', key: '', query: { delete: '' }, headers, body, signal } as const;
      const response = await wire.transport.send(request);
      if (response.statusCode !== 200) throw await readRefusal(response);
      return (await readSmallBody(response)).toString();
    });
    if (!answer.includes('DeleteResult')) return keys;
    const failed = new Set(splitElements(answer, 'Error').map((entry) => readElement(entry, 'Key')));
    return keys.filter((key) => failed.has(wire.prefix + key));
  } catch (thrown) {
    // Some services lack this request. Single deletes also give a separate error for each object.
    if (AppError.is(thrown) && thrown.code === 'E_STORAGE_FAILED' && thrown.cause instanceof ServiceRefusal)
      return keys;
    throw thrown;
  }
}

async function removeEach(wire: BucketConnection, keys: readonly string[], signal?: AbortSignal): Promise<void> {
  const left = [...keys];
  const work = async () => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) await removeOne(wire, key, signal);
  };
  await Promise.all(Array.from({ length: Math.min(singlesAtOnce, keys.length) }, work));
}

async function removeOne(
  { transport, retries, prefix }: BucketConnection,
  key: string,
  signal?: AbortSignal,
): Promise<void> {
  await withRetries(retries, signal, async () => {
    const response = await transport.send({ method: 'DELETE', key: prefix + key, signal });
    const refusal = await readRefusal(response);
    if (refusal.status >= 300 && !(refusal.status === 404 && refusal.code !== 'NoSuchBucket')) throw refusal;
  });
}

export async function copyObject(wire: BucketConnection, from: string, to: string, signal?: AbortSignal) {
  const headers = { 'x-amz-copy-source': `${wire.bucket}/${encodeKey(wire.prefix + from)}` };
  const answer = await withRetries(wire.retries, signal, async () =>
    readLateResult(await wire.transport.send({ method: 'PUT', key: wire.prefix + to, headers, signal })),
  );
  return { etag: unquote(readElement(answer, 'ETag')) };
}
