import type { S3Client } from '@aws-sdk/client-s3';
import { type CircuitBreaker, suspectMs } from './circuit-breaker.ts';
import type { BucketConnection } from './get-object.ts';
import { withRetries } from './retries.ts';
import { fromSdk } from './service-errors.ts';

export interface SdkConnection extends BucketConnection {
  readonly breaker: CircuitBreaker;
  readonly bucket: string;
  sdk(): Promise<S3Client>;
}

export function toObjectName({ bucket, prefix }: SdkConnection, key: string): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: prefix + key };
}

export function callSdk<T>(
  wire: SdkConnection,
  signal: AbortSignal | undefined,
  work: (client: S3Client, abort: { abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  return withRetries(wire.retries, signal, async () => {
    await wire.breaker.check();
    using outage = abortOnOutage(wire.breaker);
    const ended = signal ? AbortSignal.any([signal, outage.signal]) : outage.signal;
    try {
      return await work(await wire.sdk(), toAbort(ended));
    } catch (thrown) {
      throw outage.signal.aborted ? outage.signal.reason : fromSdk(thrown);
    }
  });
}

/**
 * Returns a signal that aborts when an outage begins. The SDK does not report received bytes, so the breaker asks the
 * bucket every `suspectMs` while a request of the SDK runs.
 */
function abortOnOutage(breaker: CircuitBreaker): Disposable & { readonly signal: AbortSignal } {
  const away = new AbortController();
  const unwatch = breaker.watch((thrown) => away.abort(thrown));
  const asking = setInterval(() => void breaker.suspect(), suspectMs).unref();
  return {
    signal: away.signal,
    [Symbol.dispose]() {
      unwatch();
      clearInterval(asking);
    },
  };
}

export function toAbort(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {};
}
