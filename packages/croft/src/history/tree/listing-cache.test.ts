import { expect, test } from 'vitest';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import { decodeRawListing, type RawEntry } from '../../core/history/trees/listing-codec.ts';
import { toRaw } from '../../core/history/trees/raw-names.ts';
import { createListingCache, toListingContent } from './listing-cache.ts';

/** Listings of a hundred files each, and which of them the cache had to read from the store. */
function openListings(count: number) {
  const listings = Array.from({ length: count }, (_, number) => toListingContent(toEntries(number)));
  const read: string[] = [];
  const store = {
    async read(hash: string) {
      read.push(hash);
      return listings.find((listing) => listing.hash === hash)!.bytes;
    },
  } as Partial<HistoryStore> as HistoryStore;
  return { listings, read, cache: createListingCache(store) };
}

function toEntries(listing: number): RawEntry[] {
  return Array.from({ length: 100 }, (_, file) => ({
    ...{ kind: 'file', name: toRaw(`${listing}-${String(file).padStart(3, '0')}`), mode: 0o644, size: 1 },
    hash: '0'.repeat(64),
  })) as RawEntry[];
}

test('of five hundred listings made by changes, only the newest stay in memory', async () => {
  const { listings, read, cache } = openListings(500);
  for (const { hash, bytes } of listings) cache.remember(hash, bytes, decodeRawListing(bytes));
  for (const { hash } of listings.slice(-64)) expect(await cache.load(hash)).toHaveLength(100);
  expect(read).toEqual([]);
  for (const { hash } of listings.slice(0, 400)) await cache.load(hash);
  expect(read).toHaveLength(400);
});

test('listings that were read stay, although many changes are made', async () => {
  const { listings, read, cache } = openListings(500);
  const [old, made] = [listings.slice(0, 100), listings.slice(100)];
  for (const { hash } of old) await cache.load(hash);
  for (const { hash, bytes } of made) cache.remember(hash, bytes, decodeRawListing(bytes));
  for (const { hash } of old) await cache.load(hash);
  expect(read).toEqual(old.map(({ hash }) => hash));
});

test('a listing of a few bytes does not keep the memory pool around it alive', async () => {
  const { listings, cache } = openListings(1);
  const { hash, bytes } = listings[0]!;
  const pool = Buffer.alloc(64 * 1024);
  bytes.copy(pool, 100);
  cache.remember(hash, pool.subarray(100, 100 + bytes.length));
  pool.fill(0);
  expect(await cache.load(hash)).toEqual(decodeRawListing(bytes));
});
