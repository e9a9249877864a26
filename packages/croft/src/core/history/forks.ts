import type { TreeReport } from './history.ts';
import type { TreePath } from './tree.ts';

export interface Fork {
  /** What the workspace is called by whoever forked it. */
  readonly name: string;
  readonly workspaceId: string;
  /** The name of what it was forked from. */
  readonly parent: string;
  readonly createdAt: string;
}

export interface MergeConflict {
  readonly path: TreePath;
  readonly reason: 'both changed' | 'changed here, removed there' | 'removed here, changed there' | 'kinds differ';
}

export type OnConflict = 'refuse' | 'ours' | 'theirs' | 'markers';

/** New workspaces that start as this one is, or was. */
export interface Forks {
  /** Throws `E_ALREADY_EXISTS` for a name that is taken, `E_QUOTA` for one too many. */
  fork(options: { name: string; snapshot?: string | undefined; session: string; signal: AbortSignal }): Promise<Fork>;
  list(): Promise<Fork[]>;
  /** What the fork changed since it was one, into this workspace. Throws `E_CONFLICT` with `details.conflicts`, and then nothing is changed. */
  merge(options: {
    fork: string;
    onConflict: OnConflict;
    signal: AbortSignal;
  }): Promise<{ report: TreeReport; conflicts: readonly MergeConflict[]; merged: readonly TreePath[] }>;
  remove(name: string): Promise<void>;
}
