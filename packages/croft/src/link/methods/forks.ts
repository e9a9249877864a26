import { z } from 'zod';
import { defineMethod, Id, InsidePath } from './define-method.ts';
import { Name, TreeReport } from './history.ts';
import { Namespace } from './workspace.ts';

const maxListed = 100;
const openedWorkspace = { place: Id };
const WorkspaceId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);

/** Names are shown to models, so that only plain characters are allowed. */
export const Fork = z.object({
  name: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/),
  workspaceId: WorkspaceId,
  createdAt: z.iso.datetime().max(40),
});
export const ForkList = z.array(Fork).max(maxListed);
export const Merged = z.object({
  report: TreeReport,
  conflicts: z.array(
    z.object({
      path: InsidePath,
      reason: z.enum(['both changed', 'changed here, removed there', 'removed here, changed there', 'kinds differ']),
    }),
  ),
  merged: z.array(InsidePath),
});

/** The fork becomes a workspace of the runner like any other: it is opened and removed by its namespace. */
export const createFork = defineMethod(
  'forks.create',
  z.strictObject({
    ...openedWorkspace,
    namespace: Namespace,
    workspaceId: WorkspaceId,
    name: Name,
    snapshot: Name.optional(),
  }),
  Fork,
);
/** Lists and merges arrive as JSON on channel 0. */
export const listForks = defineMethod('forks.list', z.strictObject(openedWorkspace), z.null());
export const mergeFork = defineMethod(
  'forks.merge',
  z.strictObject({ ...openedWorkspace, fork: Name, onConflict: z.enum(['refuse', 'ours', 'theirs', 'markers']) }),
  z.null(),
);
/** Deletes what the runner stores about a fork that was removed. */
export const forgetFork = defineMethod('forks.forget', z.strictObject({ ...openedWorkspace, name: Name }), z.null());
