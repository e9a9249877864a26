import type { Content, HistoryStore } from '../../core/history/ports/history-store.ts';
import { emptyTreeHash } from '../../core/history/ports/tree.ts';
import { decodeRawListing, encodeRawListing, type RawEntry } from '../../core/history/trees/listing-codec.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';

/** Listings that were read or scanned. */
const maxCachedBytes = 16 * 1024 * 1024;
/**
 * Listings that changes made. Each change makes new ones and nobody asks for the old ones again, except to undo: the
 * store has them.
 */
const maxMadeBytes = 512 * 1024;
/** Entries that always stay, whatever their size, because a change that is not stored yet is found only here. */
const minMade = 64;
/** Approximate memory of a decoded entry. */
const entryBytes = 250;

/** Caches listings by hash, the recently used ones. */
export interface ListingCache {
  load(hash: string): Promise<readonly RawEntry[]>;
  /** Adds a listing, with its entries if the caller has them: decoding is the most expensive step. */
  remember(hash: string, bytes: Buffer, entries?: readonly RawEntry[]): void;
}

/** Entries, or the bytes that they are decoded from. */
type Cached = { readonly entries: readonly RawEntry[] } | { readonly bytes: Buffer };

export function createListingCache(store: HistoryStore): ListingCache {
  const known = createRecentlyUsed(maxCachedBytes, 0);
  const made = createRecentlyUsed(maxMadeBytes, minMade);

  function remember(hash: string, bytes: Buffer, entries?: readonly RawEntry[]): void {
    if (entries) made.put(hash, { entries });
    else known.put(hash, known.get(hash) ?? { bytes: withoutPool(bytes) });
  }

  return {
    remember,
    async load(hash) {
      if (hash === emptyTreeHash) return [];
      const recent = made.get(hash);
      const found = recent ?? known.get(hash) ?? { bytes: await store.read(hash) };
      const entries = 'entries' in found ? found.entries : decodeRawListing(found.bytes);
      (recent ? made : known).put(hash, { entries });
      return entries;
    },
  };
}

/** Drops what was unused longest beyond `maxBytes`, but keeps `minCount` listings. */
function createRecentlyUsed(maxBytes: number, minCount: number) {
  // In order of use: the first was unused longest.
  const all = new Map<string, Cached>();
  let size = 0;

  function drop(hash: string): void {
    const dropped = all.get(hash);
    if (dropped) size -= sizeOf(dropped);
    all.delete(hash);
  }

  return {
    get: (hash: string): Cached | undefined => all.get(hash),
    put(hash: string, listing: Cached): void {
      drop(hash);
      all.set(hash, listing);
      size += sizeOf(listing);
      for (const oldest of all.keys()) {
        if (size <= maxBytes || all.size <= minCount) return;
        drop(oldest);
      }
    },
  };
}

function sizeOf(listing: Cached): number {
  return 'entries' in listing ? listing.entries.length * entryBytes : listing.bytes.byteLength;
}

/** A small buffer is a part of a larger one, all of which it would keep in memory. */
function withoutPool(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  bytes.copy(copy);
  return copy;
}

/** Returns a listing in the form in which it is stored. */
export function toListingContent(entries: readonly RawEntry[]): Content & { bytes: Buffer } {
  const bytes = encodeRawListing(entries);
  return { hash: sha256(bytes), size: bytes.byteLength, bytes };
}
