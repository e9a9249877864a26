import type { Files } from '../../files/files.ts';
import type { WorkspaceAccess, WorkspaceCall } from '../../workspace/workspace.ts';
import type { FileChange } from './change-feed.ts';

/** The files of one workspace for callers that are not agents: people and programs with a key. */
export interface FileAccess {
  readonly files: Files;
  readonly access: WorkspaceAccess;
  /**
   * Like `Workspace.wrapCall`: takes in what others committed before the work, and makes its changes durable after it.
   */
  wrapCall?<T>(call: WorkspaceCall, work: () => Promise<T>): Promise<T>;
  /**
   * Calls `onChange` soon after files change, from when this resolves until the signal. Left out: changes cannot be
   * watched here.
   */
  watch?(onChange: (changes: readonly FileChange[]) => void, signal: AbortSignal): Promise<void>;
}

export interface FileAccessFinder {
  /** Throws `E_NOT_FOUND` with the message `Workspace not found`, also for the workspace of another account. */
  of(accountId: string, workspaceId: string): Promise<FileAccess>;
}
