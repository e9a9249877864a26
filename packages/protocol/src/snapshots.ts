import { z } from 'zod';
import { Description, exactly, must, NonEmpty, positiveInteger } from './fields.ts';

const KnownCheck = z.object({
  tool: z.string(),
  project: z.string(),
  verdict: z.enum(['passed', 'failed', 'broken', 'clean', 'findings']),
  at: z.iso.datetime(),
});

/** A workspace as it was. */
export const Snapshot = z.object({
  name: z.string(),
  description: z.string(),
  /** Of the whole tree: the same files, the same hash. */
  hash: z.string(),
  createdAt: z.iso.datetime(),
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  includesIgnored: z.boolean(),
  /** Made before files were changed; goes after a while. */
  isAutomatic: z.boolean(),
  /** What the checks said of exactly this state. */
  checks: z.array(KnownCheck),
  /** What could not be read: the first of it. */
  missed: z.array(z.string()).optional(),
});
export type Snapshot = z.output<typeof Snapshot>;

export const SnapshotAnswer = z.object({ snapshot: Snapshot });
/** Whether one of this name was there before. */
export const SnapshotMade = z.object({ snapshot: Snapshot, replaced: z.boolean() });
export const SnapshotList = z.object({ snapshots: z.array(Snapshot) });

export const CreateSnapshot = exactly({
  name: NonEmpty,
  description: Description.optional(),
  includeIgnored: z.boolean(must('be a boolean')).optional().describe('Also what git ignores; never a .git'),
});

/** Left out: the files as they are now. */
export const SnapshotDiffQuery = z.object({ to: NonEmpty.optional() });

const Entry = z.object({ kind: z.enum(['file', 'link', 'directory']), mode: z.int(), size: z.int(), hash: z.string() });

export const SnapshotDiff = z.object({
  /** How many in all; the list holds 2000 at most. */
  paths: z.int().nonnegative(),
  changes: z.array(
    z.object({
      path: z.string(),
      /** Left out: nothing was there. */
      before: Entry.optional(),
      /** Left out: nothing is there. */
      after: Entry.optional(),
      /** A unified diff, of text that is not too long. */
      diff: z.string().optional(),
    }),
  ),
});

const Paths = z.array(z.string());

/** What a restore or an undo did. */
const treeReport = {
  added: Paths,
  changed: Paths,
  removed: Paths,
  /** Control files: these are as they were. */
  refused: Paths,
  /** How many were changed in all; the lists hold 10000 each at most. */
  paths: z.int().nonnegative(),
  /** What takes this back: a snapshot or a checkpoint. Left out: nothing was changed. */
  takenBackBy: z.string().optional(),
};

export const SnapshotRestored = z.object({ snapshot: z.string(), ...treeReport });

export const Checkpoint = z.object({
  checkpointId: z.string(),
  tool: z.string(),
  title: z.string(),
  session: z.string(),
  at: z.iso.datetime(),
  /** How many it changed. */
  paths: z.int().nonnegative(),
  undoneBy: z.string().optional(),
  /** Other calls at the same time: a part of it may be theirs. */
  alongside: z.array(z.string()).optional(),
  /** What it changed at first was not seen. */
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
