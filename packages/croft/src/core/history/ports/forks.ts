import type { TreeReport } from './history.ts';
import type { TreePath } from './tree.ts';

export interface Fork {
  /** The name that the creator of the fork gave to the new workspace. */
  readonly name: string;
  readonly workspaceId: string;
  /** The name of the workspace that was forked. */
  readonly parent: string;
  readonly createdAt: string;
}

export interface MergeConflict {
  readonly path: TreePath;
  readonly reason: 'both changed' | 'changed here, removed there' | 'removed here, changed there' | 'kinds differ';
}

export type OnConflict = 'refuse' | 'ours' | 'theirs' | 'markers';

/** Makes new workspaces that start as this workspace is now, or as a snapshot of it. */
export interface Forks {
  /** Throws `E_ALREADY_EXISTS` for a name that is taken, `E_QUOTA` if there are too many forks. */
  fork(options: { name: string; snapshot?: string | undefined; session: string; signal: AbortSignal }): Promise<Fork>;
  list(): Promise<Fork[]>;
  /**
   * Merges the changes of the fork since it was made into this workspace. Throws `E_CONFLICT` with `details.conflicts`,
   * and then changes nothing.
   */
  merge(options: {
    fork: string;
    onConflict: OnConflict;
    signal: AbortSignal;
  }): Promise<{ report: TreeReport; conflicts: readonly MergeConflict[]; merged: readonly TreePath[] }>;
  remove(name: string): Promise<void>;
}
