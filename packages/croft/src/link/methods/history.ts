import { z } from 'zod';
import { Bytes, Id, InsidePath, Label, method, Time } from './common.ts';
import { wantedSandbox } from './sandbox.ts';

/** Answers of a history are JSON on channel 0: there is no telling how long they are. */
export const answerChannel = 0;

export const Name = z.string().max(1000);
const Root = z.string().regex(/^[0-9a-f]{64}$/);
const place = { place: Id };

const TreeEntry = z.object({
  kind: z.enum(['file', 'link', 'directory']),
  mode: z.int().min(0).max(0o7777),
  size: Bytes,
  hash: z.string().max(128),
});
const Paths = z.array(InsidePath);
export const HistoryCall = z.object({ tool: Label, session: Label, title: z.string().max(64 * 1024) });
const KnownCheck = z.object({
  tool: Label,
  project: Label,
  verdict: z.enum(['passed', 'failed', 'broken', 'clean', 'findings']),
  at: Time,
});

export const Snapshot = z.object({
  name: Name,
  description: z.string(),
  root: Root,
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
const Checkpoint = z.object({
  id: Name,
  call: HistoryCall,
  at: Time,
  before: Root,
  after: Root,
  paths: Bytes,
  alongside: z.array(HistoryCall).optional(),
  undoneBy: Name.optional(),
  isPartial: z.literal(true).optional(),
});
export const Checkpoints = z.array(Checkpoint);
export const Restored = z.object({ snapshot: Name, report: TreeReport });
export const Undone = z.object({ undone: Checkpoints, report: TreeReport });

export const takeSnapshot = method(
  'history.snapshot',
  z.strictObject({
    ...place,
    name: Name,
    description: z
      .string()
      .max(64 * 1024)
      .optional(),
    includeIgnored: z.boolean().optional(),
  }),
  z.null(),
);
export const listSnapshots = method('history.snapshots', z.strictObject(place), z.null());
export const diffSnapshots = method(
  'history.diff',
  z.strictObject({ ...place, from: Name, to: Name.optional() }),
  z.null(),
);
export const restoreSnapshot = method(
  'history.restore',
  z.strictObject({ ...place, target: z.union([z.literal('green'), z.strictObject({ name: Name })]) }),
  z.null(),
);
export const removeSnapshot = method('history.remove', z.strictObject({ ...place, name: Name }), z.null());
export const listCheckpoints = method('history.checkpoints', z.strictObject({ ...place, limit: Bytes }), z.null());
export const undoCalls = method(
  'history.undo',
  z.strictObject({ ...place, what: z.union([z.strictObject({ count: Bytes }), z.strictObject({ id: Name })]) }),
  z.null(),
);
export const lookAtTree = method('history.look', z.strictObject(place), Root.nullable());
export const learnCheck = method(
  'history.learned',
  z.strictObject({ ...place, check: KnownCheck, of: Root.optional() }),
  z.null(),
);

/** Around a call of a tool: told when it may begin, tells when it is over, and answered when it is noted. */
export const recordCall = method('history.record', z.strictObject({ ...place, call: HistoryCall }), z.null());
export const RecordState = z.object({ state: z.literal('begun') });
export const RecordOrder = z.strictObject({ order: z.literal('over') });

const own = { ...place, ...wantedSandbox, session: Label };
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

/** Told of its sandbox as `sandbox.open` is, until it is told that the work is over, or given up. */
export const beginTransaction = method(
  'transactions.begin',
  z.strictObject({ ...own, title: z.string().max(64 * 1024) }),
  z.null(),
);
export const commitTransaction = method('transactions.commit', z.strictObject({ ...own, id: Name }), z.null());
export const discardTransaction = method('transactions.discard', z.strictObject({ ...own, id: Name }), z.null());
export const listTransactions = method('transactions.list', z.strictObject(own), z.null());
