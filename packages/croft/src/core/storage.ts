import type { HistoryStore } from './history/store.ts';
import type { WorkingTree } from './history/working-tree.ts';
import type { Mount } from './mount.ts';

/** What one call committed, or could not. */
export interface CommitReport {
  readonly committed: readonly string[];
  /** Somebody else changed the same file first: theirs is at `path`, ours at `kept`. */
  readonly conflicts: readonly { readonly path: string; readonly kept: string }[];
  /** Waiting on disk for a storage that does not answer (only where the workspace is set to queue). */
  readonly queued: readonly string[];
}

export interface WorkspaceQuota {
  readonly bytes?: number | undefined;
  readonly files?: number | undefined;
}

/** A workspace of a storage as a directory of this machine. One per workspace and server, shared by all its sessions. */
export interface StoredMount extends Mount {
  /** Takes in what others committed. When the storage does not answer, what is here is what there is. */
  refresh(signal: AbortSignal): Promise<void>;
  /**
   * Makes what changed here durable and visible to others. Throws `E_CONFLICT`, `E_QUOTA`, `E_STORAGE_UNAVAILABLE`; what
   * could not be committed stays here and is tried again with the next.
   */
  commit(signal: AbortSignal): Promise<CommitReport>;
  /** As `commit`, when nobody is there to be told: the next commit tells of the conflicts. What fails is tried again by it. */
  flush(signal: AbortSignal): Promise<void>;
  /** Brings the whole of large files that have only been named so far. `paths` left out: all of them. */
  materialize(paths: readonly string[] | undefined, signal: AbortSignal): Promise<void>;
  readonly tree: WorkingTree;
  /** Where its snapshots are kept. */
  readonly history: HistoryStore;
  close(): Promise<void>;
}
