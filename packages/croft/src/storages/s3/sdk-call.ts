import type { S3Client } from '@aws-sdk/client-s3';
import { fromSdk } from './failures.ts';
import type { Wire } from './get-object.ts';
import { withRetries } from './retries.ts';

export interface PartsWire extends Wire {
  readonly bucket: string;
  sdk(): Promise<S3Client>;
}

export function nameOf({ bucket, prefix }: PartsWire, key: string): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: prefix + key };
}

export function call<T>(
  wire: PartsWire,
  signal: AbortSignal | undefined,
  work: (client: S3Client, abort: { abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  return withRetries(wire.retries, signal, async () => {
    try {
      return await work(await wire.sdk(), toAbort(signal));
    } catch (thrown) {
      throw fromSdk(thrown);
    }
  });
}

export function toAbort(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {};
}
