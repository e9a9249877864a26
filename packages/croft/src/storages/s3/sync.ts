import { AppError } from '@croft/protocol';
import type { CommitReport } from '../../core/storage.ts';
import { createKeyedLock } from '../../lib/keyed-lock.ts';
import { distrust, readBootId } from './after-restart.ts';
import { type CommitSettings, createCommitting } from './committing.ts';
import type { Ground } from './ground.ts';
import type { Holes } from './holes.ts';
import { createOutage, isUnavailable } from './outage.ts';
import { recover } from './recover.ts';
import { createRefresh } from './refresh.ts';

export interface SyncOptions extends CommitSettings {
  /** Everything was brought from the bucket just now. */
  readonly isCurrent: boolean;
}

/** Keeps a working tree and its bucket the same: one thing at a time, and again when the bucket did not answer. */
export function createSync(ground: Ground, holes: Holes, options: SyncOptions) {
  const lock = createKeyedLock();
  const alone = <T>(work: () => Promise<T>) => lock.run('sync', work);
  const closing = new AbortController();
  const refreshing = createRefresh(ground, options);
  const compare = (signal?: AbortSignal) => outage.watching(() => refreshing.byListing(signal));
  const outage = createOutage(async () => {
    await alone(() => committing.quietly(closing.signal));
    await alone(() => compare(closing.signal));
  });
  const committing = createCommitting(ground, holes, outage, options);
  let isComparing = false;

  function compareLater(): void {
    if (isComparing) return;
    isComparing = true;
    const end = () => {
      isComparing = false;
    };
    // What fails here fails again where somebody waits for it.
    setImmediate(() => void alone(() => compare(closing.signal)).then(end, end));
  }

  async function catchUp(signal?: AbortSignal): Promise<void> {
    if (options.access === 'read-write') await outage.watching(() => recover(ground, signal));
    const { bootId } = ground.manifest.state();
    if (bootId !== readBootId()) committing.tellLater(await distrust(ground, signal));
    ground.manifest.setState({ bootId: readBootId() });
    await committing.quietly(signal);
    await compare(signal);
  }

  return {
    get unavailableSince() {
      return outage.since;
    },

    /** After a start: what was cut off is finished, and what was left is stored. */
    catchUp: (signal?: AbortSignal): Promise<void> => alone(() => catchUp(signal).catch(letPass)),

    refresh: (signal: AbortSignal): Promise<void> =>
      alone(async () => {
        if (outage.isFresh) return;
        await outage.watching(() => refreshing.byHead(signal)).catch(letPass);
        if (refreshing.isComparisonDue && !outage.since) compareLater();
      }),

    commit: (signal: AbortSignal): Promise<CommitReport> => alone(() => committing.loudly(signal)),

    flush: (signal: AbortSignal): Promise<void> => alone(() => committing.quietly(signal)),

    async close(): Promise<void> {
      closing.abort();
      outage.close();
      await alone(async () => {});
    },
  };
}

/** What is here can be worked with while the bucket does not answer, or there is too much in it. */
function letPass(thrown: unknown): void {
  if (!isUnavailable(thrown) && !(AppError.is(thrown) && thrown.code === 'E_QUOTA')) throw thrown;
}
