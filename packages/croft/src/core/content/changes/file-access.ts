import type { Files } from '../../files/files.ts';
import type { Workspace, WorkspaceAccess, WrapCall } from '../../workspace/workspace.ts';
import type { FileChange } from './change-feed.ts';

/** Calls `onChange` soon after files change, from when this resolves until the signal. */
export type WatchFiles = (onChange: (changes: readonly FileChange[]) => void, signal: AbortSignal) => Promise<void>;

/** The files of one workspace for callers that are not agents: people and programs with a key. */
export interface FileAccess {
  readonly files: Files;
  readonly access: WorkspaceAccess;
  /** See `Workspace.wrapCall`. */
  readonly wrapCall?: WrapCall | undefined;
  /** Searches the contents of files. */
  readonly search: Pick<Workspace, 'root' | 'withSearchBox'>;
  /** Absent: changes cannot be watched here. */
  readonly watch?: WatchFiles | undefined;
}

export interface FileAccessFinder {
  /** Throws `E_NOT_FOUND` with the message `Workspace not found`, also for the workspace of another account. */
  of(accountId: string, workspaceId: string): Promise<FileAccess>;
}
