import { z } from 'zod';
import type { HistoryNote } from '../ports/history-store.ts';

const TreeHashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const Call = z.object({
  id: z.string().optional(),
  tool: z.string(),
  session: z.string(),
  title: z.string(),
  byproducts: z.enum(['all', 'new']).optional(),
});

const KnownCheck = z.object({
  tool: z.string(),
  project: z.string(),
  verdict: z.enum(['passed', 'failed', 'broken', 'clean', 'findings']),
  at: z.string(),
});

/** A snapshot as stored. */
export const SnapshotNote = z.object({
  description: z.string(),
  root: TreeHashSchema,
  /** The hash of the same tree without files that git ignores. Verdicts of checks are stored under it. */
  source: TreeHashSchema,
  createdAt: z.string(),
  files: z.int(),
  bytes: z.number(),
  includesIgnored: z.boolean(),
  isAutomatic: z.literal(true).optional(),
  missed: z.array(z.string()).optional(),
});
export type SnapshotNote = z.output<typeof SnapshotNote>;

/** The changes between two captures, and the call that made them. */
export const CheckpointNote = z.object({
  /** A call that overlaps with others may leave several checkpoints. */
  callId: z.string(),
  call: Call,
  at: z.string(),
  before: TreeHashSchema,
  after: TreeHashSchema,
  paths: z.int(),
  alongside: z.array(Call).optional(),
  undoneBy: z.string().optional(),
  isPartial: z.literal(true).optional(),
  /** Both trees contain only the changed paths, not the whole workspace. */
  isOfPaths: z.literal(true).optional(),
});
export type CheckpointNote = z.output<typeof CheckpointNote>;

/**
 * Verdicts on a tree. The name of the note is the hash of the tree; `root` repeats it, so that garbage collection keeps
 * the tree as long as the note.
 */
export const VerdictNote = z.object({ root: TreeHashSchema, checks: z.array(KnownCheck), at: z.string() });
export type VerdictNote = z.output<typeof VerdictNote>;

export interface Named<Value> {
  readonly name: string;
  readonly note: Value;
}

/**
 * Returns the notes that match the schema. The rest is skipped: notes come from a disk, and other parts store some of
 * their own.
 */
export function readNotes<Schema extends z.ZodType>(
  schema: Schema,
  notes: readonly { name: string; note: HistoryNote }[],
): Named<z.output<Schema>>[] {
  return notes.flatMap(({ name, note }) => {
    const { success, data } = schema.safeParse(note);
    return success ? [{ name, note: data }] : [];
  });
}
