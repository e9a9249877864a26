import type { Files } from '../files.ts';
import type { CallAround, WorkspaceAccess } from '../workspace.ts';
import type { FileChange } from './change-feed.ts';

/** The files of one workspace for whoever is no agent: people and programs with a key. */
export interface FileDoor {
  readonly files: Files;
  readonly access: WorkspaceAccess;
  /** Throws `E_QUOTA` where no such number of bytes may be written any more. Left out: there is no such limit. */
  checkRoom?(bytes: number): Promise<void>;
  /** As `Workspace.around`: what others committed is taken in before, what was changed is made durable after. */
  around?<T>(call: CallAround, work: () => Promise<T>): Promise<T>;
  /** Told soon after something changes, from when this resolves until the signal. Left out: nobody here can tell. */
  watch?(onChange: (changes: readonly FileChange[]) => void, signal: AbortSignal): Promise<void>;
}

export interface FileDoors {
  /** Throws `E_NOT_FOUND` with the message `Workspace not found`, also for another account's. */
  of(accountId: string, workspaceId: string): Promise<FileDoor>;
}
