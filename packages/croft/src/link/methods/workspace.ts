import { z } from 'zod';
import { Bytes, FileName, Id, InsidePath, method, RootPath } from './common.ts';
import { HistoryCall } from './history.ts';

const Name = z.string().min(1).max(300);
/** It becomes a part of a path in sandboxes: `/workspaces/<name>`, and no other. */
const MountName = FileName.refine((name) => !/\p{C}/u.test(name), 'is not a plain name');

/** Where its files are, if that is not the runner: what is in the bucket is asked of the server, by this id. */
const Bucket = z.strictObject({ objects: Id, mark: Name, onOutage: z.enum(['refuse', 'queue']) });
const Quota = z.strictObject({ bytes: Bytes.optional(), files: Bytes.optional() });

/** Places belong to the link on which they were opened. */
export const openWorkspace = method(
  'workspace.open',
  z.strictObject({
    namespace: Name,
    workspace: Name,
    name: MountName,
    bucket: Bucket.optional(),
    quota: Quota.optional(),
  }),
  z.object({
    place: Id,
    root: RootPath,
    access: z.enum(['read-write', 'read-only']),
    has: z.object({
      history: z.boolean(),
      transactions: z.boolean(),
      watch: z.boolean(),
      around: z.boolean().default(false),
      forks: z.boolean().default(false),
    }),
  }),
);

export const Namespace = z.string().regex(/^fs-[0-9a-f]{40}$/);

/** What the runner made for it, with its history. Whatever was open of it on this link is so no more. */
export const removeWorkspace = method(
  'workspace.remove',
  z.strictObject({ namespace: Namespace }),
  z.object({ removed: z.boolean() }),
);

/**
 * Around a call of a tool: told when it may begin, tells how it ended, and answered when what it changed is stored. One
 * that only reads is answered when it may begin.
 */
export const aroundCall = method(
  'workspace.around',
  z.strictObject({ place: Id, call: HistoryCall.extend({ access: z.enum(['read', 'write', 'execute']) }).strict() }),
  z.null(),
);
export const AroundState = z.object({ state: z.literal('begun') });
export const AroundOrder = z.strictObject({ order: z.enum(['done', 'failed']) });

/** Tells once that nothing is missed from now on; the changes come on channel 0, a JSON array on each line. */
export const watchWorkspace = method('workspace.watch', z.strictObject({ place: Id }), z.null());
export const Watching = z.object({ isWatching: z.literal(true) });
export const maxChangesAtOnce = 200;
export const maxLineBytes = 8 * 1024 * 1024;
export const FileChanges = z
  .array(z.object({ path: InsidePath, type: z.enum(['create', 'write', 'remove', 'rename']) }))
  .max(maxChangesAtOnce);
