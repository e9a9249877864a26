import { z } from 'zod';
import type { Note } from './store.ts';

const Root = z.string().regex(/^[0-9a-f]{64}$/);
const Call = z.object({ tool: z.string(), session: z.string(), title: z.string() });

const KnownCheck = z.object({
  tool: z.string(),
  project: z.string(),
  verdict: z.enum(['passed', 'failed', 'broken', 'clean', 'findings']),
  at: z.string(),
});

/** A snapshot as it is kept. */
export const SnapshotNote = z.object({
  description: z.string(),
  root: Root,
  /** The same without what git ignores: what checks are known of. */
  source: Root,
  createdAt: z.string(),
  files: z.int(),
  bytes: z.number(),
  includesIgnored: z.boolean(),
  isAutomatic: z.literal(true).optional(),
  missed: z.array(z.string()).optional(),
});
export type SnapshotNote = z.output<typeof SnapshotNote>;

/** What changed between two looks, and whose it is. */
export const CheckpointNote = z.object({
  /** A call that others overlap may leave several. */
  callId: z.string(),
  call: Call,
  at: z.string(),
  before: Root,
  after: Root,
  paths: z.int(),
  alongside: z.array(Call).optional(),
  undoneBy: z.string().optional(),
  isPartial: z.literal(true).optional(),
});
export type CheckpointNote = z.output<typeof CheckpointNote>;

/** What is known of a tree; its name is the tree's root. Named once more, so that the tree is kept as long as this. */
export const MarkNote = z.object({ root: Root, checks: z.array(KnownCheck), at: z.string() });
export type MarkNote = z.output<typeof MarkNote>;

export interface Named<Value> {
  readonly name: string;
  readonly note: Value;
}

/** Those that are what they should be: notes are read from a disk, and other parts keep some of their own. */
export function readNotes<Schema extends z.ZodType>(
  schema: Schema,
  notes: readonly { name: string; note: Note }[],
): Named<z.output<Schema>>[] {
  return notes.flatMap(({ name, note }) => {
    const { success, data } = schema.safeParse(note);
    return success ? [{ name, note: data }] : [];
  });
}
