import type { ObjectStore } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import type { SeenSentence } from './condemned.ts';
import { contentKey, contentsPrefix, hashOfKey } from './store-keys.ts';

const atOnce = 32;
/** From so many on, a listing of all is cheaper than asking for each. */
const manyHashes = 500;
const maxKnown = 500_000;

/** Which contents are there, asked for once. */
export function createKnownContents(objects: ObjectStore, namespace: string) {
  const known = new Set<string>();
  /** Contents that were put again after they were condemned, and by which sentence. */
  const revived = new Map<string, number>();
  let sweeps = 0;

  function notice(sentence: SeenSentence): void {
    if (sentence.sweeps !== sweeps || known.size > maxKnown) forget();
    sweeps = sentence.sweeps;
  }

  function forget(): void {
    known.clear();
    revived.clear();
  }

  function isCondemned(hash: string, { contents }: SeenSentence): boolean {
    return contents[hash] !== undefined && revived.get(hash) !== contents[hash];
  }

  return {
    forget,
    isCondemned,
    async lacks(hashes: readonly string[], sentence: SeenSentence): Promise<Set<string>> {
      notice(sentence);
      const unknown = [...new Set(hashes)].filter((hash) => !known.has(hash));
      if (unknown.length >= manyHashes) await learnAll();
      else await inParallel(unknown, atOnce, learn);
      return new Set(hashes.filter((hash) => !known.has(hash) || isCondemned(hash, sentence)));
    },
    add(hash: string, { contents }: SeenSentence): void {
      known.add(hash);
      if (contents[hash] !== undefined) revived.set(hash, contents[hash]);
    },
  };

  async function learn(hash: string): Promise<void> {
    if (await objects.head(contentKey(namespace, hash))) known.add(hash);
  }

  async function learnAll(): Promise<void> {
    for await (const page of objects.list(contentsPrefix(namespace))) {
      for (const { key } of page) known.add(hashOfKey(key) ?? '');
    }
  }
}
