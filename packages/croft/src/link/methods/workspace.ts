import { z } from 'zod';
import { FileName, Id, InsidePath, method, RootPath } from './common.ts';

const Name = z.string().min(1).max(300);
/** It becomes a part of a path in sandboxes: `/workspaces/<name>`, and no other. */
const MountName = FileName.refine((name) => !/\p{C}/u.test(name), 'is not a plain name');

/** Places belong to the link on which they were opened. */
export const openWorkspace = method(
  'workspace.open',
  z.strictObject({ namespace: Name, workspace: Name, name: MountName }),
  z.object({
    place: Id,
    root: RootPath,
    access: z.enum(['read-write', 'read-only']),
    has: z.object({ history: z.boolean(), transactions: z.boolean(), watch: z.boolean() }),
  }),
);

/** Tells once that nothing is missed from now on; the changes come on channel 0, a JSON array on each line. */
export const watchWorkspace = method('workspace.watch', z.strictObject({ place: Id }), z.null());
export const Watching = z.object({ isWatching: z.literal(true) });
export const maxChangesAtOnce = 200;
export const maxLineBytes = 8 * 1024 * 1024;
export const FileChanges = z
  .array(z.object({ path: InsidePath, type: z.enum(['create', 'write', 'remove', 'rename']) }))
  .max(maxChangesAtOnce);
