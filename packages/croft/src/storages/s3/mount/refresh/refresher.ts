import { describeObject } from '../../layout/object-metadata.ts';
import { keysChangedSince, readHead } from '../../layout/workspace-head.ts';
import { clearTombstones, createStaleTombstones } from '../commit/tombstones.ts';
import { type MountContext, objectKey } from '../working-copy/mount-context.ts';
import { applyRemoteChanges } from './apply-remote-changes.ts';
import { compareWithListing } from './compare-with-listing.ts';

/** Interval of full listings, because other tools write without updating the head. */
const compareEveryMs = 30_000;

/** Brings the commits of others into the working tree. Must not run twice at a time, nor during a commit. */
export function createRefresher(context: MountContext, { isCurrent }: { isCurrent: boolean }) {
  const isStale = createStaleTombstones();
  /** Keys that were not applied because of local changes: retried at the next refresh. */
  let behind = new Set<string>();
  let comparedAt = isCurrent ? performance.now() : Number.NEGATIVE_INFINITY;

  /** Refreshes from the head: one round trip if nothing has changed. */
  async function byHead(signal?: AbortSignal): Promise<void> {
    const { headEtag, headVersion, by } = context.manifest.state();
    const seen = await readHead(context.objects, context.namespace, { unlessEtag: headEtag || undefined, signal });
    if (seen === 'unchanged') return retryBehind(signal);
    const keys = seen && keysChangedSince(seen.head, headVersion, by);
    if (keys) behind = await applyRemoteChanges(context, keys.union(behind), signal);
    else if (seen || headVersion > 0) await byListing(signal);
    context.manifest.setState({ headVersion: seen?.head.version ?? 0, headEtag: seen?.etag ?? '' });
  }

  async function retryBehind(signal?: AbortSignal): Promise<void> {
    if (behind.size > 0) behind = await applyRemoteChanges(context, behind, signal);
  }

  async function byListing(signal?: AbortSignal): Promise<void> {
    const { changed, stale } = await compareWithListing(context, isStale, signal);
    behind = await applyRemoteChanges(context, changed, signal);
    comparedAt = performance.now();
    await clearStale(stale, signal);
  }

  /** Clears tombstones whose owners will not delete them any more. */
  async function clearStale(keys: ReadonlySet<string>, signal?: AbortSignal): Promise<void> {
    const left = new Map<string, string>();
    for (const key of keys) {
      const current = await context.objects.head(objectKey(context, key), signal);
      const { kind, write } = current ? describeObject(current) : {};
      if (kind === 'deleted' && write !== undefined) left.set(key, write);
    }
    await clearTombstones(context, left, { signal });
  }

  return {
    byHead,
    byListing,
    /** Whether a full listing is due. It takes long, so the caller runs it in the background. */
    get isComparisonDue() {
      return performance.now() - comparedAt > compareEveryMs;
    },
  };
}
