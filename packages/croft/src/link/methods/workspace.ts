import { z } from 'zod';
import { Bytes, defineMethod, FileName, Id, InsidePath, RootPath } from './define-method.ts';
import { HistoryCall } from './history.ts';

const Name = z.string().min(1).max(300);
/**
 * The name becomes part of the path `/workspaces/<name>` in sandboxes, so that separators, control and invisible
 * characters are refused.
 */
const MountName = FileName.refine((name) => !/\p{C}/u.test(name), 'is not a plain name');

/**
 * Set if the files are in a bucket and not on the runner. The runner asks the server for the objects, by the id
 * `objects`.
 */
const Bucket = z.strictObject({ objects: Id, mark: Name, onOutage: z.enum(['refuse', 'queue']) });
const Quota = z.strictObject({ bytes: Bytes.optional(), files: Bytes.optional() });

/** Opens a workspace. The returned `place` is its id on this link alone. */
export const openWorkspace = defineMethod(
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
      /**
       * Whether the runner reports the files that a check changed and restores them. Runners of older releases do not.
       */
      checks: z.boolean().default(false),
      /** Whether the runner answers questions about code. Runners of older releases do not. */
      code: z.boolean().default(false),
      /** Whether the runner has an index of the code. Runners of older releases do not. */
      codeIndex: z.boolean().default(false),
      /** Whether the runner shows earlier trees, and knows the ids of calls. Runners of older releases do not. */
      past: z.boolean().default(false),
    }),
  }),
);

export const Namespace = z.string().regex(/^fs-[0-9a-f]{40}$/);

/**
 * Removes what the runner made for a workspace, with its history. Everything of it that is open on this link is closed.
 */
export const removeWorkspace = defineMethod(
  'workspace.remove',
  z.strictObject({ namespace: Namespace }),
  z.object({ removed: z.boolean() }),
);

/**
 * Wraps a tool call on the other side. The runner sends `begun` when the call may begin, the server sends how it ended,
 * and the answer comes when the changes are stored. A call that only reads is answered when it may begin.
 */
export const wrapToolCall = defineMethod(
  'workspace.around',
  z.strictObject({ place: Id, call: HistoryCall.extend({ access: z.enum(['read', 'write', 'execute']) }).strict() }),
  z.null(),
);
export const WrapState = z.object({ state: z.literal('begun') });
export const WrapOrder = z.strictObject({ order: z.enum(['done', 'failed']) });

/**
 * The runner sends `isWatching` once no later change can be missed. The changes arrive on channel 0, one JSON array a
 * line.
 */
export const watchWorkspace = defineMethod('workspace.watch', z.strictObject({ place: Id }), z.null());
export const WatchStarted = z.object({ isWatching: z.literal(true) });
export const maxChangesAtOnce = 200;
export const maxLineBytes = 8 * 1024 * 1024;
export const FileChanges = z
  .array(z.object({ path: InsidePath, type: z.enum(['create', 'write', 'remove', 'rename']) }))
  .max(maxChangesAtOnce);
