import type { ObjectHead } from '../../core/objects.ts';
import { type Ground, objectKey } from './ground.ts';
import { pathOfAny } from './keys.ts';
import { claimSize, describeObject, tombstone, tombstoneEtag, toSecond } from './object-entries.ts';

type Listed = Omit<ObjectHead, 'metadata'>;

/**
 * Looks at every object there is: finds what other tools put, who know nothing of the head, and what a head that does
 * not go back far enough cannot tell. Answers the keys that are not as we know them.
 */
export async function compareAll(
  ground: Ground,
  isStale: (key: string, object: Listed) => boolean,
  signal?: AbortSignal,
): Promise<{ changed: Set<string>; stale: Set<string> }> {
  const { manifest } = ground;
  const gone = new Set(manifest.keys());
  const [changed, stale, times] = [new Set<string>(), new Set<string>(), new Map<string, number>()];
  for await (const [key, object] of listAll(ground, signal)) {
    const state = await judge(ground, key, object, signal);
    if (state === 'tombstone' && isStale(key, object)) stale.add(key);
    if (state === 'tombstone' || state === 'foreign') continue;
    gone.delete(key);
    if (state === 'changed') changed.add(key);
    if (state === 'unseen') times.set(key, toSecond(object.modifiedAt));
  }
  noteTimes(ground, times);
  return { changed: changed.union(gone), stale };
}

export async function* listAll(
  ground: Pick<Ground, 'objects' | 'namespace'>,
  signal?: AbortSignal,
): AsyncIterable<[key: string, object: Listed]> {
  const prefix = objectKey(ground, '');
  for await (const page of ground.objects.list(prefix, signal ? { signal } : {}))
    for (const object of page) yield [object.key.slice(prefix.length), object];
}

export function isTombstoneListed({ size, etag }: Listed): boolean {
  return size === tombstone.length && etag === tombstoneEtag;
}

type State = 'tombstone' | 'foreign' | 'changed' | 'unseen' | 'same';

async function judge(ground: Ground, key: string, object: Listed, signal?: AbortSignal): Promise<State> {
  if (isTombstoneListed(object) || (await isClaimed(ground, key, object, signal))) return 'tombstone';
  if (pathOfAny(key) === undefined) {
    ground.warn(noName(key));
    return 'foreign';
  }
  const known = ground.manifest.get(key);
  if (known?.etag !== object.etag) return 'changed';
  // Of what we put ourselves nobody told us when that was.
  if (known.modifiedAt === undefined) return 'unseen';
  return known.modifiedAt === toSecond(object.modifiedAt) ? 'same' : 'changed';
}

export function noName(key: string): string {
  return `left alone, because no file has such a name: ${JSON.stringify(key)}`;
}

/** One that somebody wanted to take away and did not: it can only be told from a file by asking. */
async function isClaimed(ground: Ground, key: string, { size, etag }: Listed, signal?: AbortSignal): Promise<boolean> {
  if (size !== claimSize || ground.manifest.get(key)?.etag === etag) return false;
  const there = await ground.objects.head(objectKey(ground, key), signal);
  return there !== undefined && describeObject(there).kind === 'deleted';
}

function noteTimes({ manifest }: Ground, times: ReadonlyMap<string, number>): void {
  if (times.size === 0) return;
  manifest.change(() => {
    for (const [key, modifiedAt] of times) {
      const known = manifest.get(key);
      if (known) manifest.put(key, { ...known, modifiedAt });
    }
  });
}
