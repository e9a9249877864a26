import { createChangeRecorder } from './checkpoints/change-recorder.ts';
import { createRecordVerdicts } from './checkpoints/record-verdicts.ts';
import { createRevertChanges } from './checkpoints/revert-changes.ts';
import { createUndo, toCheckpoint } from './checkpoints/undo.ts';
import { createCheckpointLog, findUndone } from './logs/checkpoint-log.ts';
import { createRetention, defaultRetention, type Retention } from './logs/retention.ts';
import { createSnapshotLog, toSnapshot } from './logs/snapshot-log.ts';
import { checkSnapshotName } from './logs/snapshot-name.ts';
import { createVerdictLog } from './logs/verdict-log.ts';
import type { History } from './ports/history.ts';
import type { HistoryStore } from './ports/history-store.ts';
import { maxStoredFileBytes, type WorkingTree } from './ports/working-tree.ts';
import { createDiffSnapshots } from './snapshots/diff-snapshots.ts';
import { createPastTrees } from './snapshots/past-trees.ts';
import { createRestore } from './snapshots/restore.ts';
import { createFindRestoreTarget } from './snapshots/restore-target.ts';
import { createTakeSnapshot } from './snapshots/take-snapshot.ts';
import { createTreeArchive } from './trees/tree-archive.ts';

export interface HistoryOptions {
  readonly tree: WorkingTree;
  /** The store of snapshots. Without it, snapshots are in `tree.store`. */
  readonly archive?: HistoryStore | undefined;
  now(): Date;
  readonly retention?: Partial<Retention> | undefined;
  /** How long a call waits for the first read of a workspace. */
  readonly firstReadMs?: number | undefined;
  /** Automatic captures do not store the contents of larger files; snapshots do. */
  readonly maxFileBytes?: number | undefined;
  /** Called with what went wrong in the history of a call. The call itself does not fail because of it. */
  onWarning(message: string): void;
}

export type ManagedHistory = History & {
  /** Takes an automatic snapshot named `before-<what>-…`, before something else changes the tree. Returns its name. */
  snapshotBefore(what: string, description: string, signal: AbortSignal): Promise<string>;
  /** Deletes the oldest history if there is more than the limits allow. */
  shrink(): Promise<void>;
  /** Resolves when background work is done. */
  idle(): Promise<void>;
};

const defaults = { firstReadMs: 10_000, maxFileBytes: maxStoredFileBytes };

/** Implements snapshots, checkpoints and undo over one working tree. */
export function createHistory({ archive: separateArchive, ...options }: HistoryOptions): ManagedHistory {
  const { tree, now, onWarning } = options;
  const archiveStore = separateArchive ?? tree.store;
  const archive = createTreeArchive(tree.store, archiveStore);
  const log = createCheckpointLog(tree.store);
  const [snapshots, verdicts] = [createSnapshotLog(archiveStore), createVerdictLog(archiveStore)];
  const { firstReadMs = defaults.firstReadMs, maxFileBytes = defaults.maxFileBytes } = options;
  const onCheckpoint = () => retention.noteCheckpoint();
  const recorder = createChangeRecorder({ tree, log, now, onWarning, maxFileBytes, firstReadMs, onCheckpoint });
  const { exclusively } = recorder;
  const rules = { ...defaultRetention, ...options.retention };
  const logs = { store: tree.store, log, snapshots, verdicts };
  const retention = createRetention({ ...logs, retention: rules, now, onWarning });
  const take = createTakeSnapshot({ tree, archive, snapshots, now });
  const find = createFindRestoreTarget({ stores: [tree.store, archiveStore], log, snapshots, verdicts });
  const findTarget: typeof find = (target) => exclusively(() => find(target));

  return {
    async snapshot({ name, description = `snapshot: ${name}`, includeIgnored = false, signal }) {
      checkSnapshotName(name);
      return exclusively(async () => {
        const replaced = (await snapshots.find(name)) !== undefined;
        if (!replaced) await snapshots.mustBeBelowLimit();
        const note = await take({ name, description, includesIgnored: includeIgnored, signal });
        const snapshot = toSnapshot({ name, note }, await verdicts.byTree());
        return replaced ? { ...snapshot, replaced } : snapshot;
      });
    },
    async snapshots() {
      const known = await verdicts.byTree();
      return (await snapshots.list()).map((one) => toSnapshot(one, known));
    },
    past: createPastTrees({ tree, archive, log, snapshots }),
    diff: createDiffSnapshots({ tree, archive, archiveStore, snapshots, maxFileBytes }),
    restore: createRestore({ tree, recorder, archive, log, snapshots, take, findTarget, now }),
    async snapshotBefore(what, description, signal) {
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
    record: recorder.record,
    recordReported: recorder.recordReported,
    recordCheck: recorder.recordCheck,
    revertChanges: createRevertChanges({ tree, recorder }),
    async checkpoints(limit) {
      const all = await exclusively(() => log.list());
      const isUndone = findUndone(all);
      return all.slice(0, limit).map((one) => toCheckpoint(one, isUndone(one) ? one.note.undoneBy : undefined));
    },
    undo: createUndo({ tree, recorder, log, now }),
    ...createRecordVerdicts({ tree, recorder, verdicts, onWarning }),
    shrink: retention.shrink,
    async idle() {
      await exclusively(async () => {});
      await retention.idle();
    },
  };
}
