import type { Readable } from 'node:stream';

export interface ObjectHead {
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
  readonly size: number;
  readonly modifiedAt: Date;
  /** Names in lower case, without `x-amz-meta-`. Not in listings. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface StoredObject extends ObjectHead {
  readonly body: Readable;
}

export type PutCondition = 'absent' | { readonly etag: string };

export interface PutOptions {
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Left out: whatever is there is replaced. */
  readonly expect?: PutCondition | undefined;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A body that can be sent again from its start when a try fails. */
export interface Sendable {
  readonly size: number;
  open(): AsyncIterable<Uint8Array> | Uint8Array;
}

/**
 * A bucket of any S3 service, below one prefix that is no part of the keys here. Retries with backoff what may be
 * retried; an outage throws `E_STORAGE_UNAVAILABLE`, a refusal of the service `E_STORAGE_FAILED`, both without host names,
 * keys or signatures.
 */
export interface ObjectStore {
  /** `undefined`: there is none; `'unchanged'`: it is the one of `unlessEtag`. A range ends with the byte `end`; the size is that of the whole. */
  get(
    key: string,
    options?: { unlessEtag?: string; range?: { start: number; end?: number }; signal?: AbortSignal },
  ): Promise<StoredObject | 'unchanged' | undefined>;
  head(key: string, signal?: AbortSignal): Promise<ObjectHead | undefined>;
  /** `'refused'`: what is there is not what was expected. In parts when it is large. */
  put(key: string, body: Sendable, options?: PutOptions): Promise<{ etag: string } | 'refused'>;
  /** As if it had succeeded where there is none. */
  remove(keys: readonly string[], signal?: AbortSignal): Promise<void>;
  copy(from: string, to: string, signal?: AbortSignal): Promise<{ etag: string }>;
  /** In order of key, a page at a time. `after` is a key. */
  list(
    prefix: string,
    options?: { after?: string; signal?: AbortSignal },
  ): AsyncIterable<readonly Omit<ObjectHead, 'metadata'>[]>;
  /** Whether conditional puts are honoured here, by trying: once for each bucket and server. */
  probe(signal?: AbortSignal): Promise<{ readonly isConditional: boolean; readonly reason?: string }>;
  close(): void;
}
