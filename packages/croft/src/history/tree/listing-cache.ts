import type { Content, HistoryStore } from '../../core/history/ports/history-store.ts';
import { emptyTreeHash } from '../../core/history/ports/tree.ts';
import { decodeRawListing, encodeRawListing, type RawEntry } from '../../core/history/trees/listing-codec.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';

const maxCachedBytes = 16 * 1024 * 1024;
/** Approximate memory of a decoded entry. */
const entryBytes = 250;

/** Caches listings by hash, the recently used ones. */
export interface ListingCache {
  load(hash: string): Promise<readonly RawEntry[]>;
  /** Adds a listing, with its entries if the caller has them: decoding is the most expensive step. */
  remember(hash: string, bytes: Buffer, entries?: readonly RawEntry[]): void;
}

interface Cached {
  readonly bytes: Buffer;
  readonly entries?: readonly RawEntry[] | undefined;
}

export function createListingCache(store: HistoryStore): ListingCache {
  const cached = new Map<string, Cached>();
  let size = 0;

  function drop(hash: string): Cached | undefined {
    const known = cached.get(hash);
    if (!known) return undefined;
    cached.delete(hash);
    size -= sizeOf(known);
    return known;
  }

  function remember(hash: string, bytes: Buffer, entries?: readonly RawEntry[]): void {
    const fresh = { bytes, entries: entries ?? drop(hash)?.entries };
    drop(hash);
    cached.set(hash, fresh);
    size += sizeOf(fresh);
    for (const oldest of cached.keys()) {
      if (size <= maxCachedBytes) return;
      drop(oldest);
    }
  }

  return {
    remember,
    async load(hash) {
      if (hash === emptyTreeHash) return [];
      const known = cached.get(hash);
      const bytes = known?.bytes ?? (await store.read(hash));
      const entries = known?.entries ?? decodeRawListing(bytes);
      remember(hash, bytes, entries);
      return entries;
    },
  };
}

function sizeOf({ bytes, entries = [] }: Cached): number {
  return bytes.byteLength + entries.length * entryBytes;
}

/** Returns a listing in the form in which it is stored. */
export function toListingContent(entries: readonly RawEntry[]): Content & { bytes: Buffer } {
  const bytes = encodeRawListing(entries);
  return { hash: sha256(bytes), size: bytes.byteLength, bytes };
}
