import { compareAll } from './compare.ts';
import { type Ground, objectKey } from './ground.ts';
import { keysSince, readHead } from './head.ts';
import { describeObject } from './object-entries.ts';
import { takeIn } from './take-in.ts';
import { clearTombstones, createStaleTombstones } from './tombstones.ts';

/** Other tools may write at any time, without a word. */
const compareEveryMs = 30_000;

/** Keeps up with what others commit. Not to be called by two at a time, nor during a commit. */
export function createRefresh(ground: Ground, { isCurrent }: { isCurrent: boolean }) {
  const isStale = createStaleTombstones();
  /** What could not be taken in, because it was changed here: to be looked at again. */
  let behind = new Set<string>();
  let comparedAt = isCurrent ? performance.now() : Number.NEGATIVE_INFINITY;

  /** One round trip when nothing has changed. */
  async function byHead(signal?: AbortSignal): Promise<void> {
    const { headEtag, headVersion, by } = ground.manifest.state();
    const seen = await readHead(ground.objects, ground.namespace, { unlessEtag: headEtag || undefined, signal });
    if (seen === 'unchanged') return retryBehind(signal);
    const keys = seen && keysSince(seen.head, headVersion, by);
    if (keys) behind = await takeIn(ground, keys.union(behind), signal);
    else if (seen || headVersion > 0) await byListing(signal);
    ground.manifest.setState({ headVersion: seen?.head.version ?? 0, headEtag: seen?.etag ?? '' });
  }

  async function retryBehind(signal?: AbortSignal): Promise<void> {
    if (behind.size > 0) behind = await takeIn(ground, behind, signal);
  }

  async function byListing(signal?: AbortSignal): Promise<void> {
    const { changed, stale } = await compareAll(ground, isStale, signal);
    behind = await takeIn(ground, changed, signal);
    comparedAt = performance.now();
    await bury(stale, signal);
  }

  /** Tombstones that whoever put them does not take away any more. */
  async function bury(keys: ReadonlySet<string>, signal?: AbortSignal): Promise<void> {
    const left = new Map<string, string>();
    for (const key of keys) {
      const there = await ground.objects.head(objectKey(ground, key), signal);
      const { kind, write } = there ? describeObject(there) : {};
      if (kind === 'deleted' && write !== undefined) left.set(key, write);
    }
    await clearTombstones(ground, left, { signal });
  }

  return {
    byHead,
    byListing,
    /** A listing takes long: it is made next to what is going on. */
    get isComparisonDue() {
      return performance.now() - comparedAt > compareEveryMs;
    },
  };
}
