import { z } from 'zod';
import { exactly, mustBeOneOf, NonEmpty } from './field-schemas.ts';

/** A workspace that was made as a copy of another. */
export const Fork = z.object({
  name: z.string(),
  workspaceId: z.string(),
  /** The name of the workspace that it was forked from. */
  parent: z.string(),
  createdAt: z.iso.datetime(),
});
export type Fork = z.output<typeof Fork>;

export const ForkAnswer = z.object({ fork: Fork });
export const ForkList = z.object({ forks: z.array(Fork) });

export const CreateFork = exactly({
  name: NonEmpty,
  snapshot: NonEmpty.optional().describe('Start as it was, not as the files are now'),
});

const ways = ['refuse', 'ours', 'theirs', 'markers'] as const;

export const MergeFork = exactly({
  fork: NonEmpty.describe('Its name'),
  onConflict: z.enum(ways, mustBeOneOf(ways)).prefault('refuse').describe('Where both changed the same'),
});

const Paths = z.array(z.string());

export const ForkMerged = z.object({
  added: Paths,
  changed: Paths,
  removed: Paths,
  /** Control files, which stay unchanged. */
  refused: Paths,
  /** Files with changes of both sides. */
  merged: Paths,
  /** Conflicts that `onConflict` decided. */
  conflicts: z.array(z.object({ path: z.string(), reason: z.string() })),
});
