import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { type CircuitBreakers, createCircuitBreakers } from './circuit-breakers.ts';
import { type EndpointOptions, toEndpoint } from './endpoint.ts';
import { type BucketConnection, getObject, headObject } from './get-object.ts';
import { listObjects } from './list-objects.ts';
import { toHead } from './object-headers.ts';
import { type ConditionSupport, probeConditionalPuts } from './probe-conditional-puts.ts';
import { putInParts } from './put-in-parts.ts';
import { putWhole } from './put-object.ts';
import { copyObject, removeObjects } from './remove-and-copy-objects.ts';
import { partBytes } from './send-parts.ts';
import type { Credentials } from './signature.ts';
import { createBucketProbe, createTransport } from './transport.ts';
import { defaultRetries, type RetryPolicy } from './with-retries.ts';

export interface ObjectStoreOptions extends EndpointOptions {
  /** Prefix of all keys; slashes around it are ignored, and empty means the whole bucket. */
  readonly prefix: string;
  readonly credentials: Credentials;
  /** Maximum number of concurrent requests (64). */
  readonly connections?: number | undefined;
  readonly connectMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly retries?: RetryPolicy | undefined;
  /** The breakers that all stores of this server share. Without it, this store has its own. */
  readonly breakers?: CircuitBreakers | undefined;
}

/** Creates the client of one bucket. Throws `E_INVALID_INPUT` for invalid settings. Does not connect yet. */
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const { bucket, retries = defaultRetries } = options;
  const endpoint = toEndpoint(options);
  const breakers = options.breakers ?? createCircuitBreakers({ onChange() {} });
  const breaker = breakers.of(endpoint.bucketUrl.href, createBucketProbe({ ...options, endpoint }));
  const transport = createTransport({ ...options, endpoint, breaker });
  let probed: Promise<ConditionSupport> | undefined;
  const trimmed = options.prefix.replace(/^\/+|\/+$/g, '');
  const wire: BucketConnection = { transport, retries, bucket, prefix: trimmed === '' ? '' : `${trimmed}/` };

  /** Probes the service once. A probe that failed is repeated by the next caller. */
  function probe(signal?: AbortSignal): Promise<ConditionSupport> {
    probed ??= probeConditionalPuts(wire, signal).catch((thrown) => {
      probed = undefined;
      throw thrown;
    });
    return probed;
  }

  return {
    get: (key, options) => getObject(wire, key, options),
    async head(key, signal) {
      const response = await headObject(wire, key, signal);
      return response && toHead(key, response.headers);
    },
    async put(key, body, options = {}) {
      const { expect, signal } = options;
      const form = expect === undefined || expect === 'absent' ? 'bare' : (await probe(signal)).form;
      const isLarge = body.size > partBytes;
      return isLarge ? putInParts(wire, key, body, options, form) : putWhole(wire, key, body, options, form);
    },
    remove: (keys, signal) => removeObjects(wire, keys, signal),
    copy: (from, to, signal) => copyObject(wire, from, to, signal),
    list: (prefix, options) => listObjects(wire, prefix, options),
    async probe(signal) {
      const { isConditional, reason } = await probe(signal);
      return reason === undefined ? { isConditional } : { isConditional, reason };
    },
    outage: breaker,
    close() {
      transport.close();
      breaker.release();
    },
  };
}
