import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { inParallel } from '../../../lib/concurrency/in-parallel.ts';
import { contentKey, contentsPrefix, hashOfKey } from '../layout/history-keys.ts';
import type { DeletionEntriesWithEtag } from './deletion-list.ts';

const atOnce = 32;
/** For this many hashes or more, one listing is cheaper than one request each. */
const manyHashes = 500;
const maxKnown = 500_000;

/** Remembers which contents are in the bucket. */
export function createKnownContents(objects: ObjectStore, namespace: string) {
  const known = new Set<string>();
  /** Contents that were put again after they were on the deletion list, with the time of that entry. */
  const revived = new Map<string, number>();
  let sweeps = 0;

  function notice(sentence: DeletionEntriesWithEtag): void {
    if (sentence.sweeps !== sweeps || known.size > maxKnown) forget();
    sweeps = sentence.sweeps;
  }

  function forget(): void {
    known.clear();
    revived.clear();
  }

  function isCondemned(hash: string, { contents }: DeletionEntriesWithEtag): boolean {
    return contents[hash] !== undefined && revived.get(hash) !== contents[hash];
  }

  return {
    forget,
    isCondemned,
    async lacks(hashes: readonly string[], sentence: DeletionEntriesWithEtag): Promise<Set<string>> {
      notice(sentence);
      const unknown = [...new Set(hashes)].filter((hash) => !known.has(hash));
      if (unknown.length >= manyHashes) await learnAll();
      else await inParallel(unknown, atOnce, checkOne);
      return new Set(hashes.filter((hash) => !known.has(hash) || isCondemned(hash, sentence)));
    },
    add(hash: string, { contents }: DeletionEntriesWithEtag): void {
      known.add(hash);
      if (contents[hash] !== undefined) revived.set(hash, contents[hash]);
    },
  };

  async function checkOne(hash: string): Promise<void> {
    if (await objects.head(contentKey(namespace, hash))) known.add(hash);
  }

  async function learnAll(): Promise<void> {
    for await (const page of objects.list(contentsPrefix(namespace))) {
      for (const { key } of page) known.add(hashOfKey(key) ?? '');
    }
  }
}
