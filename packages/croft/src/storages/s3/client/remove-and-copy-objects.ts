import { AppError } from '@croft/protocol';
import { unquote } from './object-headers.ts';
import { withRetries } from './retries.ts';
import { callSdk, type SdkConnection, toObjectName } from './sdk-call.ts';
import { readRefusal, ServiceRefusal } from './service-errors.ts';
import { encodeKey } from './signature.ts';

const maxAtOnce = 1000;
const singlesAtOnce = 16;

export async function removeObjects(wire: SdkConnection, keys: readonly string[], signal?: AbortSignal): Promise<void> {
  if (keys.length <= 2) return removeEach(wire, keys, signal);
  for (let at = 0; at < keys.length; at += maxAtOnce) {
    const batch = keys.slice(at, at + maxAtOnce);
    await removeEach(wire, await removeTogether(wire, batch, signal), signal);
  }
}

/** Returns the keys that were not removed. */
async function removeTogether(wire: SdkConnection, keys: readonly string[], signal?: AbortSignal): Promise<string[]> {
  const { DeleteObjectsCommand } = await import('@aws-sdk/client-s3');
  const Objects = keys.map((key) => ({ Key: wire.prefix + key }));
  const command = { Bucket: wire.bucket, Delete: { Objects, Quiet: true } };
  try {
    const answer = await callSdk(wire, signal, (client, abort) =>
      client.send(new DeleteObjectsCommand(command), abort),
    );
    return (answer.Errors ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(wire.prefix.length)]));
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_STORAGE_FAILED' && thrown.cause instanceof ServiceRefusal) {
      // Some services lack `DeleteObjects`. Single deletes also give a separate error for each object.
      return [...keys];
    }
    throw thrown;
  }
}

async function removeEach(wire: SdkConnection, keys: readonly string[], signal?: AbortSignal): Promise<void> {
  const left = [...keys];
  const work = async () => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) await removeOne(wire, key, signal);
  };
  await Promise.all(Array.from({ length: Math.min(singlesAtOnce, keys.length) }, work));
}

async function removeOne(
  { transport, retries, prefix }: SdkConnection,
  key: string,
  signal?: AbortSignal,
): Promise<void> {
  await withRetries(retries, signal, async () => {
    const response = await transport.send({ method: 'DELETE', key: prefix + key, signal });
    const refusal = await readRefusal(response);
    if (refusal.status >= 300 && !(refusal.status === 404 && refusal.code !== 'NoSuchBucket')) throw refusal;
  });
}

export async function copyObject(wire: SdkConnection, from: string, to: string, signal?: AbortSignal) {
  const { CopyObjectCommand } = await import('@aws-sdk/client-s3');
  const input = { ...toObjectName(wire, to), CopySource: `${wire.bucket}/${encodeKey(wire.prefix + from)}` };
  const { CopyObjectResult } = await callSdk(wire, signal, (client, abort) =>
    client.send(new CopyObjectCommand(input), abort),
  );
  return { etag: unquote(CopyObjectResult?.ETag ?? '') };
}
