import { decodeRawListing, encodeRawListing, type RawEntry } from '../core/history/listing.ts';
import type { Content, HistoryStore } from '../core/history/store.ts';
import { emptyRoot } from '../core/history/tree.ts';
import { sha256 } from '../lib/sha256.ts';

const maxCachedBytes = 16 * 1024 * 1024;

/** Listings by their hash, of which those used last are at hand. */
export interface Listings {
  load(hash: string): Promise<readonly RawEntry[]>;
  learn(hash: string, bytes: Buffer): void;
}

export function createListings(store: HistoryStore): Listings {
  const cached = new Map<string, Buffer>();
  let size = 0;

  function learn(hash: string, bytes: Buffer): void {
    if (cached.delete(hash)) size -= bytes.byteLength;
    cached.set(hash, bytes);
    size += bytes.byteLength;
    for (const [oldest, held] of cached) {
      if (size <= maxCachedBytes) return;
      cached.delete(oldest);
      size -= held.byteLength;
    }
  }

  return {
    learn,
    async load(hash) {
      if (hash === emptyRoot) return [];
      const bytes = cached.get(hash) ?? (await store.read(hash));
      learn(hash, bytes);
      return decodeRawListing(bytes);
    },
  };
}

/** A listing as it is kept. */
export function toContent(entries: readonly RawEntry[]): Content & { bytes: Buffer } {
  const bytes = encodeRawListing(entries);
  return { hash: sha256(bytes), size: bytes.byteLength, bytes };
}
