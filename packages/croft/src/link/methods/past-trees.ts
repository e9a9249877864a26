import { z } from 'zod';
import { defineMethod, FileName, Id, InsidePath } from './define-method.ts';
import { Checkpoint, FileDiffs, Name, TreeEntry } from './history.ts';

/** Earlier trees of a workspace. Only runners whose workspaces have `past` know these methods. */

const ofSnapshot = { place: Id, snapshot: Name };

export const diffCheckpoint = defineMethod(
  'history.diff-of',
  z.strictObject({ place: Id, checkpoint: Name }),
  z.null(),
);
export const CheckpointChanges = z.object({ checkpoint: Checkpoint, changes: FileDiffs });

export const listPastDirectory = defineMethod(
  'history.list-at',
  z.strictObject({ ...ofSnapshot, path: InsidePath }),
  z.null(),
);
/** The names of one directory. The server puts the directory before each. */
export const PastEntries = z.array(z.object({ name: FileName, entry: TreeEntry }));

/** The bytes are on channel 0. */
export const readPastFile = defineMethod(
  'history.read-at',
  z.strictObject({ ...ofSnapshot, path: InsidePath.min(1) }),
  z.null(),
);
