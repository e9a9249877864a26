import { z } from 'zod';
import { Bytes, defineMethod, Id, InsidePath, Label, Time } from './define-method.ts';
import { wantedSandbox } from './sandbox.ts';

/** Answers of a history arrive as JSON on channel 0, because they can be longer than a message. */
export const answerChannel = 0;

export const Name = z.string().max(1000);
const TreeHash = z.string().regex(/^[0-9a-f]{64}$/);
const openedWorkspace = { place: Id };

export const TreeEntry = z.object({
  kind: z.enum(['file', 'link', 'directory']),
  mode: z.int().min(0).max(0o7777),
  size: Bytes,
  hash: z.string().max(128),
});
const Paths = z.array(InsidePath);
/** With more altered files than this, none is listed. */
export const maxAltered = 1000;
/** No more changes than this are reverted or proven to be a check's own doing. */
const maxReverted = 200;
const PathChange = z.object({ path: InsidePath.min(1), before: TreeEntry.optional(), after: TreeEntry.optional() });
const PathChanges = z.array(PathChange.strict()).max(maxReverted);
export const HistoryCall = z.object({
  /** Only runners whose workspaces have `past` know it. */
  id: Id.optional(),
  tool: Label,
  session: Label,
  title: z.string().max(64 * 1024),
  byproducts: z.enum(['all', 'new']).optional(),
});
const KnownCheck = z.object({
  tool: Label,
  project: Label,
  verdict: z.enum(['passed', 'failed', 'broken', 'clean', 'findings']),
  at: Time,
});

export const Snapshot = z.object({
  name: Name,
  description: z.string(),
  root: TreeHash,
  createdAt: Time,
  files: Bytes,
  bytes: Bytes,
  includesIgnored: z.boolean(),
  checks: z.array(KnownCheck).optional(),
  isAutomatic: z.literal(true).optional(),
  missed: Paths.optional(),
});
export const Snapshots = z.array(Snapshot);
export const TakenSnapshot = Snapshot.extend({ replaced: z.literal(true).optional() });

export const FileDiffs = z.array(
  z.object({
    path: InsidePath,
    before: TreeEntry.optional(),
    after: TreeEntry.optional(),
    text: z.string().optional(),
  }),
);
export const TreeReport = z.object({
  added: Paths,
  changed: Paths,
  removed: Paths,
  refused: Paths,
  takenBackBy: Name,
});
export const Checkpoint = z.object({
  id: Name,
  call: HistoryCall,
  at: Time,
  before: TreeHash,
  after: TreeHash,
  paths: Bytes,
  alongside: z.array(HistoryCall).optional(),
  undoneBy: Name.optional(),
  isPartial: z.literal(true).optional(),
});
export const Checkpoints = z.array(Checkpoint);
export const Restored = z.object({ snapshot: Name, report: TreeReport });
export const Undone = z.object({ undone: Checkpoints, report: TreeReport });

export const takeSnapshot = defineMethod(
  'history.snapshot',
  z.strictObject({
    ...openedWorkspace,
    name: Name,
    description: z
      .string()
      .max(64 * 1024)
      .optional(),
    includeIgnored: z.boolean().optional(),
  }),
  z.null(),
);
export const listSnapshots = defineMethod('history.snapshots', z.strictObject(openedWorkspace), z.null());
export const diffSnapshots = defineMethod(
  'history.diff',
  z.strictObject({ ...openedWorkspace, from: Name, to: Name.optional() }),
  z.null(),
);
export const restoreSnapshot = defineMethod(
  'history.restore',
  z.strictObject({ ...openedWorkspace, target: z.union([z.literal('green'), z.strictObject({ name: Name })]) }),
  z.null(),
);
export const removeSnapshot = defineMethod(
  'history.remove',
  z.strictObject({ ...openedWorkspace, name: Name }),
  z.null(),
);
export const listCheckpoints = defineMethod(
  'history.checkpoints',
  z.strictObject({ ...openedWorkspace, limit: Bytes }),
  z.null(),
);
export const undoCalls = defineMethod(
  'history.undo',
  z.strictObject({
    ...openedWorkspace,
    what: z.union([z.strictObject({ count: Bytes }), z.strictObject({ id: Name })]),
  }),
  z.null(),
);
export const captureTree = defineMethod('history.look', z.strictObject(openedWorkspace), TreeHash.nullable());
export const recordVerdict = defineMethod(
  'history.learned',
  z.strictObject({ ...openedWorkspace, check: KnownCheck, of: TreeHash.optional() }),
  z.null(),
);

/**
 * Wraps a tool call on the other side. The runner sends `begun` when the call may begin, the server sends `over` when
 * it ended, and the answer comes when the call is recorded.
 */
export const recordCall = defineMethod(
  'history.record',
  z.strictObject({ ...openedWorkspace, call: HistoryCall }),
  z.null(),
);
export const RecordState = z.object({ state: z.literal('begun') });
export const RecordOrder = z.strictObject({ order: z.literal('over') });

/**
 * The same for a check that must not change files. The answer names the files that differ afterwards; no content
 * crosses the link. Only runners whose workspaces have `checks` know this method, and likewise `revertChanges` and
 * `asBefore` of `beginTransaction`.
 */
export const recordCheck = defineMethod(
  'history.check',
  z.strictObject({ ...openedWorkspace, call: HistoryCall }),
  z.object({
    altered: z.array(PathChange).max(maxAltered),
    unverified: z.enum(['none', 'closed', 'unread', 'unreadable', 'crowded', 'silent', 'old']).optional(),
  }),
);
/**
 * Restores what was there before each of these changes. Returns the paths that have changed again since, which are left
 * alone.
 */
export const revertChanges = defineMethod(
  'history.take-back',
  z.strictObject({ ...openedWorkspace, changes: PathChanges }),
  z.object({ stayed: Paths.max(maxReverted) }),
);

const own = { ...openedWorkspace, ...wantedSandbox, session: Label };
const Transaction = z.object({
  id: Name,
  createdAt: Time,
  expiresAt: Time,
  title: z.string(),
  changes: FileDiffs,
  bytes: Bytes,
});
export const TransactionShown = Transaction;
export const Transactions = z.array(Transaction);

/**
 * Sends the same messages about its sandbox as `sandbox.open`, until the server says that the work is over or given up.
 */
export const beginTransaction = defineMethod(
  'transactions.begin',
  z.strictObject({ ...own, title: z.string().max(64 * 1024), asBefore: PathChanges.optional() }),
  z.null(),
);
export const commitTransaction = defineMethod('transactions.commit', z.strictObject({ ...own, id: Name }), z.null());
export const discardTransaction = defineMethod('transactions.discard', z.strictObject({ ...own, id: Name }), z.null());
export const listTransactions = defineMethod('transactions.list', z.strictObject(own), z.null());

/** Removes the text of a diff, which never crosses a link. */
export function toPathChange({ path, before, after }: z.input<typeof PathChange>): z.input<typeof PathChange> {
  return { path, before, after };
}
