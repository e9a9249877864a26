import type { CheckpointLog } from './checkpoint-log.ts';
import type { Marks } from './marks.ts';
import type { SnapshotLog } from './snapshot-log.ts';
import type { HistoryStore } from './store.ts';

export interface Retention {
  /** Most checkpoints, and most automatic snapshots. */
  readonly count: number;
  /** Older ones go, and so do automatic snapshots. */
  readonly ageMs: number;
  /** After so many checkpoints it is looked at what is too old. */
  readonly everyCheckpoints: number;
  /** How often at most the room of what is gone is made free. */
  readonly collectEveryMs: number;
}

const dayMs = 86_400_000;

export const defaultRetention: Retention = {
  count: 200,
  ageMs: 7 * dayMs,
  everyCheckpoints: 50,
  collectEveryMs: 600_000,
};

export interface RetentionOptions {
  readonly retention: Retention;
  readonly store: HistoryStore;
  readonly log: CheckpointLog;
  readonly snapshots: SnapshotLog;
  readonly marks: Marks;
  now(): Date;
  onWarning(message: string): void;
}

/** Takes away what is old, now and then and beside the calls. What people named stays until they delete it. */
export function createRetention(options: RetentionOptions) {
  const { retention, store, log, snapshots, marks, now } = options;
  let [made, collectedAt] = [0, 0];
  let sweeping: Promise<void> | undefined;
  let isWanted = false;

  /** One that is asked for while another is at work comes after it: that one may have looked already. */
  async function sweepWhileWanted(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await sweep();
    }
  }

  async function sweep(): Promise<void> {
    const dropped = await drop();
    if (dropped === 0 || now().getTime() - collectedAt < retention.collectEveryMs) return;
    collectedAt = now().getTime();
    // What notes name stays, and so does what was captured just now.
    await store.collect([]);
  }

  async function drop(): Promise<number> {
    const from = new Date(now().getTime() - retention.ageMs).toISOString();
    const isOver = (at: string, index: number) => index >= retention.count || at < from;
    const checkpoints = (await log.list()).filter(({ note }, index) => isOver(note.at, index));
    const all = await snapshots.list();
    const automatic = all.filter(({ note }) => note.isAutomatic);
    const old = automatic.filter(({ note }, index) => isOver(note.createdAt, index));
    const named = new Set(all.map(({ note }) => note.source));
    const newest = (await marks.list()).sort((a, b) => b.note.at.localeCompare(a.note.at));
    const forgotten = newest.filter(({ name, note }, index) => !named.has(name) && isOver(note.at, index));
    if (checkpoints.length > 0) await log.drop(checkpoints.map(({ name }) => name));
    if (old.length > 0) await snapshots.drop(old.map(({ name }) => name));
    if (forgotten.length > 0) await marks.drop(forgotten.map(({ name }) => name));
    return checkpoints.length + old.length + forgotten.length;
  }

  function start(): void {
    isWanted = true;
    sweeping ??= sweepWhileWanted()
      .catch((thrown) => options.onWarning(`old snapshots and checkpoints cannot be taken away: ${thrown}`))
      .finally(() => {
        sweeping = undefined;
      });
  }

  return {
    /** Of the first of a server too: it may never make many. */
    noteCheckpoint(): void {
      if (made % retention.everyCheckpoints === 0) start();
      made += 1;
    },
    idle: async () => sweeping,
  };
}
