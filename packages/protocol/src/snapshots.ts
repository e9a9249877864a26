import { z } from 'zod';
import { Description, exactly, must, NonEmpty, positiveInteger } from './field-schemas.ts';

const KnownCheck = z.object({
  tool: z.string(),
  project: z.string(),
  verdict: z.enum(['passed', 'failed', 'broken', 'clean', 'findings']),
  at: z.iso.datetime(),
});

/** The tree of a workspace at one time, with a name. */
export const Snapshot = z.object({
  name: z.string(),
  description: z.string(),
  /** Hash of the whole tree. Equal trees have equal hashes. */
  hash: z.string(),
  createdAt: z.iso.datetime(),
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  includesIgnored: z.boolean(),
  /** Made automatically before a change; removed after a while. */
  isAutomatic: z.boolean(),
  /** Results of checks on exactly this tree. */
  checks: z.array(KnownCheck),
  /** The first paths that could not be read. */
  missed: z.array(z.string()).optional(),
});
export type Snapshot = z.output<typeof Snapshot>;

export const SnapshotAnswer = z.object({ snapshot: Snapshot });
/** `replaced`: whether a snapshot of this name existed before. */
export const SnapshotMade = z.object({ snapshot: Snapshot, replaced: z.boolean() });
export const SnapshotList = z.object({ snapshots: z.array(Snapshot) });

export const CreateSnapshot = exactly({
  name: NonEmpty,
  description: Description.optional(),
  includeIgnored: z.boolean(must('be a boolean')).optional().describe('Also what git ignores; never a .git'),
});

/** Default: the files as they are now. */
export const SnapshotDiffQuery = z.object({ to: NonEmpty.optional() });

const Entry = z.object({ kind: z.enum(['file', 'link', 'directory']), mode: z.int(), size: z.int(), hash: z.string() });

export const SnapshotDiff = z.object({
  /** Number of all changed paths; the list has at most 2000. */
  paths: z.int().nonnegative(),
  changes: z.array(
    z.object({
      path: z.string(),
      /** Absent: the path did not exist. */
      before: Entry.optional(),
      /** Absent: the path does not exist. */
      after: Entry.optional(),
      /** A unified diff, if both are texts within the size limit. */
      diff: z.string().optional(),
    }),
  ),
});

const Paths = z.array(z.string());

/** The report of a restore or an undo. */
const treeReport = {
  added: Paths,
  changed: Paths,
  removed: Paths,
  /** Control files, which stay unchanged. */
  refused: Paths,
  /** Number of all changed paths; each list has at most 10000. */
  paths: z.int().nonnegative(),
  /** The snapshot or checkpoint that reverts this change. Absent: nothing was changed. */
  takenBackBy: z.string().optional(),
};

export const SnapshotRestored = z.object({ snapshot: z.string(), ...treeReport });

export const Checkpoint = z.object({
  checkpointId: z.string(),
  /** The call that left it, as events and the audit trail name it. Left out for older ones, and on runners. */
  call: z.string().optional(),
  tool: z.string(),
  title: z.string(),
  session: z.string(),
  at: z.iso.datetime(),
  /** Number of changed paths. */
  paths: z.int().nonnegative(),
  undoneBy: z.string().optional(),
  /** Concurrent calls, which may have made some of these changes. */
  alongside: z.array(z.string()).optional(),
  /** The first changes of the call were not captured. */
  isPartial: z.literal(true).optional(),
});
export type Checkpoint = z.output<typeof Checkpoint>;

const maxCheckpoints = 200;
const range = must(`be an integer from 1 to ${maxCheckpoints}`);

export const CheckpointQuery = z.object({
  limit: z.coerce.number(range).int(range).min(1, range).max(maxCheckpoints, range).prefault(50),
});
export const CheckpointList = z.object({ checkpoints: z.array(Checkpoint) });

export const CheckpointDiff = z.object({ checkpoint: Checkpoint, ...SnapshotDiff.shape });

export const UndoCalls = exactly({
  calls: positiveInteger(maxCheckpoints).optional(),
  checkpointId: NonEmpty.optional(),
}).refine(({ calls, checkpointId }) => calls === undefined || checkpointId === undefined, {
  error: 'either calls or checkpointId, not both',
});
export const CallsUndone = z.object({ undone: z.array(Checkpoint), ...treeReport });
