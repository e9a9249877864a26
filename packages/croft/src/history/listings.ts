import { decodeRawListing, encodeRawListing, type RawEntry } from '../core/history/listing.ts';
import type { Content, HistoryStore } from '../core/history/store.ts';
import { emptyRoot } from '../core/history/tree.ts';
import { sha256 } from '../lib/sha256.ts';

const maxCachedBytes = 16 * 1024 * 1024;
/** What an entry takes once it is decoded, more or less. */
const entryBytes = 250;

/** Listings by their hash, of which those used last are at hand. */
export interface Listings {
  load(hash: string): Promise<readonly RawEntry[]>;
  /** With its entries, where they are at hand: to decode them takes longer than anything else that is done with them. */
  learn(hash: string, bytes: Buffer, entries?: readonly RawEntry[]): void;
}

interface Cached {
  readonly bytes: Buffer;
  readonly entries?: readonly RawEntry[] | undefined;
}

export function createListings(store: HistoryStore): Listings {
  const cached = new Map<string, Cached>();
  let size = 0;

  function drop(hash: string): Cached | undefined {
    const held = cached.get(hash);
    if (!held) return undefined;
    cached.delete(hash);
    size -= sizeOf(held);
    return held;
  }

  function learn(hash: string, bytes: Buffer, entries?: readonly RawEntry[]): void {
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
    learn,
    async load(hash) {
      if (hash === emptyRoot) return [];
      const known = cached.get(hash);
      const bytes = known?.bytes ?? (await store.read(hash));
      const entries = known?.entries ?? decodeRawListing(bytes);
      learn(hash, bytes, entries);
      return entries;
    },
  };
}

function sizeOf({ bytes, entries = [] }: Cached): number {
  return bytes.byteLength + entries.length * entryBytes;
}

/** A listing as it is kept. */
export function toContent(entries: readonly RawEntry[]): Content & { bytes: Buffer } {
  const bytes = encodeRawListing(entries);
  return { hash: sha256(bytes), size: bytes.byteLength, bytes };
}
