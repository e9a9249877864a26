import type { ObjectStore } from '../../core/objects.ts';
import { type EndpointOptions, toEndpoint } from './endpoint.ts';
import { getObject, headObject } from './get-object.ts';
import { listObjects } from './list-objects.ts';
import { copyObject, removeObjects } from './many-objects.ts';
import { putInParts } from './multipart.ts';
import { type Probed, probeConditions } from './probe.ts';
import { putWhole } from './put-object.ts';
import { defaultRetries, type RetryPolicy } from './retries.ts';
import type { PartsWire } from './sdk-call.ts';
import { createSdkClient } from './sdk-client.ts';
import { partBytes } from './send-parts.ts';
import type { Credentials } from './signature.ts';
import { createTransport } from './transport.ts';
import { toHead } from './wire-heads.ts';

export interface ObjectStoreOptions extends EndpointOptions {
  /** Slashes around it do not count; empty for the whole bucket. */
  readonly prefix: string;
  readonly credentials: Credentials;
  /** At most so many requests are under way at once (64). */
  readonly connections?: number | undefined;
  readonly connectMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly retries?: RetryPolicy | undefined;
}

/** Throws `E_INVALID_INPUT` for settings that cannot be; connects to nothing yet. */
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const { region, credentials, bucket, retries = defaultRetries } = options;
  const endpoint = toEndpoint(options);
  const transport = createTransport({ ...options, endpoint });
  let client: ReturnType<typeof createSdkClient> | undefined;
  let probed: Promise<Probed> | undefined;
  const trimmed = options.prefix.replace(/^\/+|\/+$/g, '');
  const wire: PartsWire = {
    ...{ transport, retries, bucket, prefix: trimmed === '' ? '' : `${trimmed}/` },
    sdk: () => (client ??= createSdkClient({ endpoint, region, credentials, transport })),
  };

  /** One that could not be finished is made again by the next who asks. */
  function probe(signal?: AbortSignal): Promise<Probed> {
    probed ??= probeConditions(wire, signal).catch((thrown) => {
      probed = undefined;
      throw thrown;
    });
    return probed;
  }

  return {
    get: (key, options) => getObject(wire, key, options),
    async head(key, signal) {
      const there = await headObject(wire, key, signal);
      return there && toHead(key, there.headers);
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
    close: () => transport.close(),
  };
}
