import {
  CallsUndone,
  CheckpointDiff,
  CheckpointList,
  type CreateSnapshot,
  Deleted,
  SnapshotAnswer,
  SnapshotDiff,
  SnapshotList,
  SnapshotMade,
  SnapshotRestored,
} from '@croft/protocol';
import type { z } from 'zod';
import { path, type Request } from './request.ts';

export interface UndoOptions {
  /** How many of the last changing calls to undo. Default: 1. */
  readonly calls?: number | undefined;
  /** The one checkpoint to undo instead. */
  readonly checkpointId?: string | undefined;
}

/** Snapshots of a workspace, and undo. */
export function createHistory(request: Request, workspaceId: string) {
  const root = path`/v1/workspaces/${workspaceId}`;
  return {
    snapshots: {
      /** Replaces a snapshot of the same name. */
      create: (body: z.input<typeof CreateSnapshot>) =>
        request('POST', `${root}/snapshots`, { answer: SnapshotMade, body }),
      list: async () => (await request('GET', `${root}/snapshots`, { answer: SnapshotList })).snapshots,
      get: async (name: string) =>
        (await request('GET', root + path`/snapshots/${name}`, { answer: SnapshotAnswer })).snapshot,
      remove: async (name: string): Promise<void> => {
        await request('DELETE', root + path`/snapshots/${name}`, { answer: Deleted });
      },
      /** Changes since this snapshot, up to now or to another snapshot. */
      diff: async (name: string, options: { readonly to?: string | undefined } = {}) =>
        (await request('GET', root + path`/snapshots/${name}/diff`, { answer: SnapshotDiff, query: { ...options } }))
          .changes,
      restore: (name: string) =>
        request('POST', root + path`/snapshots/${name}/restore`, { answer: SnapshotRestored, body: {} }),
      /** Restores the last state whose tests passed. */
      restoreGreen: () => request('POST', `${root}/restore-green`, { answer: SnapshotRestored, body: {} }),
    },
    checkpoints: async (limit?: number) =>
      (await request('GET', `${root}/checkpoints`, { answer: CheckpointList, query: { limit } })).checkpoints,
    /** Returns the diff of one call. */
    diffOf: (checkpointId: string) =>
      request('GET', root + path`/checkpoints/${checkpointId}/diff`, { answer: CheckpointDiff }),
    /** Undoes the last calls, or one of them: all of their changes or none. */
    undo: (options: UndoOptions = {}) => request('POST', `${root}/undo`, { answer: CallsUndone, body: { ...options } }),
  };
}
