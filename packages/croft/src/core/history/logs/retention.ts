import type { HistoryStore } from '../ports/history-store.ts';
import type { TreeHash } from '../ports/tree.ts';
import { createDropOldNotes, type DropOldNotesOptions } from './drop-old-notes.ts';

export interface Retention {
  /** Maximum number of checkpoints, and of automatic snapshots. */
  readonly count: number;
  /** Maximum age of checkpoints and automatic snapshots. */
  readonly ageMs: number;
  /** Number of checkpoints between two searches for old ones. */
  readonly everyCheckpoints: number;
  /** Minimum time between two garbage collections. */
  readonly collectEveryMs: number;
  /** A collection runs sooner if the history has grown by this much since the last one. */
  readonly collectEveryBytes: number;
  /** Time until the next attempt after deleting the oldest history freed nothing. */
  readonly shrinkEveryMs: number;
}

const dayMs = 86_400_000;

export const defaultRetention: Retention = {
  count: 200,
  ageMs: 7 * dayMs,
  everyCheckpoints: 50,
  collectEveryMs: 600_000,
  collectEveryBytes: 32 * 1024 * 1024,
  shrinkEveryMs: 5_000,
};

interface RetentionOptions extends DropOldNotesOptions {
  readonly retention: Retention;
  readonly store: HistoryStore;
  now(): Date;
  onWarning(message: string): void;
}

/**
 * Deletes old history from time to time, in the background, and the oldest history when the quota is nearly full. Named
 * snapshots stay until people delete them.
 */
export function createRetention(options: RetentionOptions) {
  const { retention, store } = options;
  const dropping = createDropOldNotes(options);
  const now = () => options.now().getTime();
  let [made, collectedAt, shrunkInVainAt] = [0, 0, 0];
  let sweeping: Promise<void> | undefined;
  let isWanted = false;

  /**
   * Runs sweeps until no more are requested. A request during a sweep starts another one, because the running sweep may
   * already be past what changed.
   */
  async function sweepWhileWanted(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await sweep();
    }
  }

  async function sweep(): Promise<void> {
    const from = new Date(now() - retention.ageMs).toISOString();
    const dropped = await dropping.drop((at, index) => index >= retention.count || at < from);
    if (isNearlyFull()) await dropOldest(dropped);
    else if (dropped.length > 0 && now() - collectedAt >= retention.collectEveryMs) await collect([]);
    else if (((await store.grownSinceCollection?.()) ?? 0) >= retention.collectEveryBytes) await collect(dropped);
  }

  const isNearlyFull = () =>
    (store.quota?.isNearlyFull() ?? false) && now() - shrunkInVainAt >= retention.shrinkEveryMs;

  /** Deletes the older half of the history, and repeats this for as long as it frees bytes. */
  async function dropOldest(gone: readonly TreeHash[]): Promise<void> {
    let [dropped, freed] = [gone, 0];
    do {
      const half = await dropping.olderHalf();
      // The newest checkpoint stays unless it alone exceeds the quota: files matter more than history.
      const isOver = store.quota?.isExceeded() ?? false;
      const goes = (at: string, index: number) => (index > 0 || isOver) && half !== undefined && at <= half;
      dropped = [...dropped, ...(await dropping.drop(goes))];
      freed = dropped.length > 0 ? await collect(dropped) : 0;
      dropped = [];
    } while (freed > 0 && store.quota?.isNearlyFull());
    if (freed === 0) shrunkInVainAt = now();
  }

  /** Collects garbage. Trees that notes name and trees captured just now stay. */
  async function collect(dropped: readonly TreeHash[]): Promise<number> {
    collectedAt = now();
    return store.collectGarbage([], dropped);
  }

  function start(): void {
    isWanted = true;
    sweeping ??= sweepWhileWanted()
      .catch((thrown) => options.onWarning(`old snapshots and checkpoints cannot be deleted: ${thrown}`))
      .finally(() => {
        sweeping = undefined;
      });
  }

  return {
    /** Starts a sweep at the first checkpoint of a server too: a server may never make many. */
    noteCheckpoint(): void {
      if (made % retention.everyCheckpoints === 0 || isNearlyFull()) start();
      made += 1;
    },
    async shrink(): Promise<void> {
      start();
      await sweeping;
    },
    idle: async () => sweeping,
  };
}
