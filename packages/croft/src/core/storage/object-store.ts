import type { Readable } from 'node:stream';

export interface ObjectHead {
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
  readonly size: number;
  readonly modifiedAt: Date;
  /** Keys are lower case and without `x-amz-meta-`. Listings do not have metadata. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface StoredObject extends ObjectHead {
  readonly body: Readable;
}

export type PutCondition = 'absent' | { readonly etag: string };

export interface PutObjectOptions {
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Absent: an existing object is replaced. */
  readonly expect?: PutCondition | undefined;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A body that can be sent again from its start when an attempt fails. */
export interface ResendableBody {
  readonly size: number;
  open(): AsyncIterable<Uint8Array> | Uint8Array;
}

/**
 * A bucket of any S3 service, below one prefix that is not part of the keys here. Retries transient failures with
 * backoff. An outage throws `E_STORAGE_UNAVAILABLE`, a refusal by the service `E_STORAGE_FAILED`; neither message
 * contains host names, keys or signatures.
 */
export interface ObjectStore {
  /**
   * Returns `undefined` for a missing object, and `'unchanged'` when its etag is `unlessEtag`. A range includes its
   * last byte `end`; `size` is always the size of the whole object.
   */
  get(
    key: string,
    options?: { unlessEtag?: string; range?: { start: number; end?: number }; signal?: AbortSignal },
  ): Promise<StoredObject | 'unchanged' | undefined>;
  head(key: string, signal?: AbortSignal): Promise<ObjectHead | undefined>;
  /** Returns `'refused'` when the existing object does not meet `expect`. Sends a large body in parts. */
  put(key: string, body: ResendableBody, options?: PutObjectOptions): Promise<{ etag: string } | 'refused'>;
  /** A missing object counts as removed. */
  remove(keys: readonly string[], signal?: AbortSignal): Promise<void>;
  copy(from: string, to: string, signal?: AbortSignal): Promise<{ etag: string }>;
  /** Lists objects in order of their keys, one page at a time, after the key `after`. */
  list(
    prefix: string,
    options?: { after?: string; signal?: AbortSignal },
  ): AsyncIterable<readonly Omit<ObjectHead, 'metadata'>[]>;
  /** Tests whether the service honours conditional puts. The result is cached per bucket and server. */
  probe(signal?: AbortSignal): Promise<{ readonly isConditional: boolean; readonly reason?: string }>;
  /** State of the current outage. Absent: the store does not track outages. */
  readonly outage?: {
    readonly since: Date | undefined;
    /** Calls `listener` when the bucket answers again. Returns a function that unsubscribes. */
    onEnd(listener: () => void): () => void;
  };
  close(): void;
}
