import { type CreateFork, ForkAnswer, ForkList, ForkMerged, type MergeFork } from '@croft/protocol';
import type { z } from 'zod';
import { path, type Request } from './request.ts';

/** Workspaces that start as copies of this one. */
export function createForks(request: Request, workspaceId: string) {
  const root = path`/v1/workspaces/${workspaceId}`;
  return {
    list: async () => (await request('GET', `${root}/forks`, { answer: ForkList })).forks,
    create: async (body: z.input<typeof CreateFork>) =>
      (await request('POST', `${root}/forks`, { answer: ForkAnswer, body })).fork,
    /** Brings the changes of a fork into this workspace. */
    merge: (body: z.input<typeof MergeFork>) => request('POST', `${root}/merge`, { answer: ForkMerged, body }),
  };
}
