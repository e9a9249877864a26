import type { Sandbox } from '../../commands/sandbox.ts';
import type { FileDiff, TreeReport } from './history.ts';
import type { PathChange } from './tree.ts';

/** Changes that a command made outside the workspace and that are not committed yet. */
export interface PendingTransaction {
  readonly id: string;
  readonly createdAt: string;
  /** The transaction is discarded at this time. */
  readonly expiresAt: string;
  readonly title: string;
  readonly changes: readonly FileDiff[];
  readonly bytes: number;
}

/**
 * Runs commands on a layer of a workspace, whose changes are committed or discarded as a whole. A transaction belongs
 * to the session that began it.
 */
export interface Transactions {
  /**
   * Runs `work` with a sandbox of its own over a layer of the workspace. Returns what changed in the layer; the
   * workspace stays as it is. The files of `asBefore` are first restored in the layer to what they were before each
   * change. Throws `E_TOO_LARGE` for more than 200 of them, or 8 MB.
   */
  begin<T>(
    session: string,
    title: string,
    work: (sandbox: Sandbox) => Promise<T>,
    signal: AbortSignal,
    asBefore?: readonly PathChange[],
  ): Promise<{ result: T; transaction: PendingTransaction }>;
  /**
   * Throws `E_CONFLICT` with the paths that changed in the workspace meanwhile. Then nothing is changed and the
   * transaction stays open.
   */
  commit(session: string, id: string, signal: AbortSignal): Promise<TreeReport>;
  /** Throws `E_NOT_FOUND`, also for a transaction of another session. */
  discard(session: string, id: string): Promise<void>;
  list(session: string): Promise<PendingTransaction[]>;
}
