import type { Sandbox } from '../commands/sandbox.ts';
import type { FileDiff, TreeReport } from './history.ts';

/** What a command did where nothing of it counts yet. */
export interface Transaction {
  readonly id: string;
  readonly createdAt: string;
  /** It is discarded then. */
  readonly expiresAt: string;
  readonly title: string;
  readonly changes: readonly FileDiff[];
  readonly bytes: number;
}

/** Commands on a copy of a workspace, which is kept or thrown away whole. A transaction belongs to the session that began it. */
export interface Transactions {
  /** Runs `work` with a sandbox of its own over a layer of the workspace. What it changed is answered, and the workspace is as it was. */
  begin<T>(
    session: string,
    title: string,
    work: (sandbox: Sandbox) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ result: T; transaction: Transaction }>;
  /** Throws `E_CONFLICT` with the paths that changed in the workspace meanwhile, and then nothing is changed and the transaction is still there. */
  commit(session: string, id: string, signal: AbortSignal): Promise<TreeReport>;
  /** Throws `E_NOT_FOUND`, also for another session's. */
  discard(session: string, id: string): Promise<void>;
  list(session: string): Promise<Transaction[]>;
}
