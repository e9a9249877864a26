import { AppError } from '@croft/protocol';
import type { CommitReport } from '../../../core/storage/stored-mount.ts';
import { createKeyedLock } from '../../../lib/concurrency/keyed-lock.ts';
import { type CommitSettings, createCommitter } from './commit/committer.ts';
import { finishInterruptedCommit } from './commit/finish-interrupted-commit.ts';
import { createOutageRetry, isUnavailable } from './commit/outage-retry.ts';
import { readBootId, setAsideTornFiles } from './commit/set-aside-torn-files.ts';
import { createRefresher } from './refresh/refresher.ts';
import type { MountContext } from './working-copy/mount-context.ts';
import type { Placeholders } from './working-copy/placeholders.ts';

interface BucketSyncOptions extends CommitSettings {
  /** Whether the workspace was downloaded just now. */
  readonly isCurrent: boolean;
}

/** Keeps a working tree and its bucket in sync: one operation at a time, repeated after an outage. */
export function createBucketSync(context: MountContext, placeholders: Placeholders, options: BucketSyncOptions) {
  const lock = createKeyedLock();
  const alone = <T>(work: () => Promise<T>) => lock.run('sync', work);
  const closing = new AbortController();
  const refreshing = createRefresher(context, options);
  const compare = (signal?: AbortSignal) => outage.watching(() => refreshing.byListing(signal));
  const outage = createOutageRetry(async () => {
    await alone(() => committing.quietly(closing.signal));
    await alone(() => compare(closing.signal));
  });
  const committing = createCommitter(context, placeholders, outage, options);
  const stopListening = context.objects.outage?.onEnd(outage.retryNow);
  let isComparing = false;

  function compareLater(): void {
    if (isComparing) return;
    isComparing = true;
    const end = () => {
      isComparing = false;
    };
    // Errors are dropped: the same error occurs again in a call that waits for the bucket.
    setImmediate(() => void alone(() => compare(closing.signal)).then(end, end));
  }

  async function catchUp(signal?: AbortSignal): Promise<void> {
    if (options.access === 'read-write') await outage.watching(() => finishInterruptedCommit(context, signal));
    const { bootId } = context.manifest.state();
    if (bootId !== readBootId()) committing.tellLater(await setAsideTornFiles(context, signal));
    context.manifest.setState({ bootId: readBootId() });
    await committing.quietly(signal);
    await compare(signal);
  }

  return {
    get unavailableSince() {
      return outage.since;
    },

    /** Called after a start: finishes an interrupted commit, and commits all other local changes. */
    catchUp: (signal?: AbortSignal): Promise<void> => alone(() => catchUp(signal).catch(ignoreOutageAndQuota)),

    refresh: (signal: AbortSignal): Promise<void> =>
      alone(async () => {
        if (outage.isFresh) return;
        await outage.watching(() => refreshing.byHead(signal)).catch(ignoreOutageAndQuota);
        if (refreshing.isComparisonDue && !outage.since) compareLater();
      }),

    commit: (signal: AbortSignal): Promise<CommitReport> => alone(() => committing.loudly(signal)),

    flush: (signal: AbortSignal): Promise<void> => alone(() => committing.quietly(signal)),

    async close(): Promise<void> {
      closing.abort();
      stopListening?.();
      outage.close();
      await alone(async () => {});
    },
  };
}

/** The working copy stays usable while the bucket does not answer or is over its quota. */
function ignoreOutageAndQuota(thrown: unknown): void {
  if (!isUnavailable(thrown) && !(AppError.is(thrown) && thrown.code === 'E_QUOTA')) throw thrown;
}
