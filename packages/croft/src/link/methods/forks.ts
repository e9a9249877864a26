import { z } from 'zod';
import { Id, InsidePath, method } from './common.ts';
import { Name, TreeReport } from './history.ts';
import { Namespace } from './workspace.ts';

const maxListed = 100;
const place = { place: Id };
const WorkspaceId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/);

/** They are shown to models, so that nothing in them may pass for anything else. */
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

/** It becomes a workspace of the runner like any other, to be opened and removed by its namespace. */
export const createFork = method(
  'forks.create',
  z.strictObject({
    ...place,
    namespace: Namespace,
    workspaceId: WorkspaceId,
    name: Name,
    snapshot: Name.optional(),
  }),
  Fork,
);
/** Lists and merges are JSON on channel 0. */
export const listForks = method('forks.list', z.strictObject(place), z.null());
export const mergeFork = method(
  'forks.merge',
  z.strictObject({ ...place, fork: Name, onConflict: z.enum(['refuse', 'ours', 'theirs', 'markers']) }),
  z.null(),
);
/** Of one that was removed. */
export const forgetFork = method('forks.forget', z.strictObject({ ...place, name: Name }), z.null());
