import type { HistoryStore } from '../history/ports/history-store.ts';
import type { WorkingTree } from '../history/ports/working-tree.ts';
import type { WorkspaceMount } from './workspace-mount.ts';

/** Result of one commit. */
export interface CommitReport {
  readonly committed: readonly string[];
  /** Files that somebody else changed first: their version is at `path`, ours at `kept`. */
  readonly conflicts: readonly { readonly path: string; readonly kept: string }[];
  /** Files that wait on the disk because the storage does not answer (only if the workspace is configured to queue). */
  readonly queued: readonly string[];
}

export interface WorkspaceQuota {
  readonly bytes?: number | undefined;
  readonly files?: number | undefined;
}

/**
 * A workspace of a storage, mounted as a directory of this machine. One per workspace and server, shared by all
 * sessions.
 */
export interface StoredMount extends WorkspaceMount {
  /** Applies what others committed. If the storage does not answer, the local state is used as it is. */
  refresh(signal: AbortSignal): Promise<void>;
  /**
   * Uploads local changes, which makes them durable and visible to others. Throws `E_CONFLICT` or
   * `E_STORAGE_UNAVAILABLE`; changes that were not committed stay local, and the next commit tries them again. Throws
   * `E_QUOTA` after reverting changes that exceed the quota.
   */
  commit(signal: AbortSignal): Promise<CommitReport>;
  /** Like `commit`, when no caller waits for the result: the next commit reports the conflicts and retries failures. */
  flush(signal: AbortSignal): Promise<void>;
  /** Downloads the content of large files that are only placeholders so far. Without `paths`: all of them. */
  materialize(paths: readonly string[] | undefined, signal: AbortSignal): Promise<void>;
  readonly tree: WorkingTree;
  /** Stores its snapshots. */
  readonly history: HistoryStore;
  close(): Promise<void>;
}
