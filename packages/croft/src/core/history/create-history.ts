import { createArchive } from './archive.ts';
import { createCheckpointLog, findUndone } from './checkpoint-log.ts';
import { createDiff } from './diff-snapshots.ts';
import type { History } from './history.ts';
import { createLearning } from './learning.ts';
import { createMarks } from './marks.ts';
import { createRestore } from './restore.ts';
import { createFindTarget } from './restore-target.ts';
import { createRetention, defaultRetention, type Retention } from './retention.ts';
import { createSnapshotLog, toSnapshot } from './snapshot-log.ts';
import { checkSnapshotName } from './snapshot-name.ts';
import type { HistoryStore } from './store.ts';
import { createTakeSnapshot } from './take-snapshot.ts';
import { createTimeline } from './timeline.ts';
import { createUndo, toCheckpoint } from './undo.ts';
import type { WorkingTree } from './working-tree.ts';

export interface HistoryOptions {
  readonly tree: WorkingTree;
  /** Where snapshots are kept. Left out: with everything else. */
  readonly archive?: HistoryStore | undefined;
  now(): Date;
  readonly retention?: Partial<Retention> | undefined;
  /** How long a call waits for the first reading of a workspace. */
  readonly firstReadMs?: number | undefined;
  /** Larger files are not kept automatically; a snapshot keeps them. */
  readonly maxFileBytes?: number | undefined;
  /** Told what went wrong with the history of a call: the call itself does not fail by it. */
  onWarning(message: string): void;
}

export type KeptHistory = History & {
  /** Before something else changes the tree: an automatic snapshot, `before-<what>-…`. Answers its name. */
  keepBefore(what: string, description: string, signal: AbortSignal): Promise<string>;
  /** When what goes on beside the calls is done. */
  idle(): Promise<void>;
};

const defaults = { firstReadMs: 10_000, maxFileBytes: 32 * 1024 * 1024 };

/** What a workspace was: the rules of snapshots and checkpoints over one working tree. */
export function createHistory({ archive: elsewhere, ...options }: HistoryOptions): KeptHistory {
  const { tree, now, onWarning } = options;
  const archiveStore = elsewhere ?? tree.store;
  const archive = createArchive(tree.store, archiveStore);
  const log = createCheckpointLog(tree.store);
  const [snapshots, marks] = [createSnapshotLog(archiveStore), createMarks(archiveStore)];
  const { firstReadMs = defaults.firstReadMs, maxFileBytes = defaults.maxFileBytes } = options;
  const onCheckpoint = () => retention.noteCheckpoint();
  const timeline = createTimeline({ tree, log, now, onWarning, maxFileBytes, firstReadMs, onCheckpoint });
  const { exclusively } = timeline;
  const rules = { ...defaultRetention, ...options.retention };
  const kept = { store: tree.store, log, snapshots, marks };
  const retention = createRetention({ ...kept, retention: rules, now, onWarning });
  const take = createTakeSnapshot({ tree, archive, snapshots, now });
  const find = createFindTarget({ stores: [tree.store, archiveStore], log, snapshots, marks });
  const findTarget: typeof find = (target) => exclusively(() => find(target));

  return {
    async snapshot({ name, description = `snapshot: ${name}`, includeIgnored = false, signal }) {
      checkSnapshotName(name);
      return exclusively(async () => {
        const replaced = (await snapshots.find(name)) !== undefined;
        if (!replaced) await snapshots.mustHaveRoom();
        const note = await take({ name, description, includesIgnored: includeIgnored, signal });
        const snapshot = toSnapshot({ name, note }, await marks.byRoot());
        return replaced ? { ...snapshot, replaced } : snapshot;
      });
    },
    async snapshots() {
      const known = await marks.byRoot();
      return (await snapshots.list()).map((one) => toSnapshot(one, known));
    },
    diff: createDiff({ tree, archive, archiveStore, snapshots, maxFileBytes }),
    restore: createRestore({ tree, timeline, archive, log, snapshots, take, findTarget, now }),
    async keepBefore(what, description, signal) {
      return exclusively(async () => {
        const name = await snapshots.freeName(what, now());
        await take({ name, description, includesIgnored: false, isAutomatic: true, signal });
        return name;
      });
    },
    async remove(name) {
      await snapshots.mustFind(name);
      await snapshots.drop([name]);
    },
    record: timeline.record,
    recordTold: timeline.recordTold,
    async checkpoints(limit) {
      const all = await exclusively(() => log.list());
      const isUndone = findUndone(all);
      return all.slice(0, limit).map((one) => toCheckpoint(one, isUndone(one) ? one.note.undoneBy : undefined));
    },
    undo: createUndo({ tree, timeline, log, now }),
    ...createLearning({ tree, timeline, marks, onWarning }),
    async idle() {
      await exclusively(async () => {});
      await retention.idle();
    },
  };
}
