import type { Checks } from './checks/checks.ts';
import type { CommandSettings } from './commands/runtimes.ts';
import type { Sandbox } from './commands/sandbox.ts';
import type { SearchBox } from './content/search-box.ts';
import type { Files } from './files.ts';
import type { PermissionMode } from './permission.ts';

export type WorkspaceAccess = 'read-write' | 'read-only';

/** A durable, named tree of files, and the sandbox its commands run in. */
export interface Workspace {
  /** What it is, whatever it is called: an approval for one is not good for another of the same name. */
  readonly id: string;
  readonly name: string;
  /** The root as the model may see it. */
  readonly root: string;
  readonly access: WorkspaceAccess;
  /** Which calls a person has to agree to. */
  readonly permission: PermissionMode;
  /** Whether each call finds it empty, and nothing of a call is left for the next. */
  readonly isFleeting?: true;
  /** Left out: commands are bounded by their sandbox alone. */
  readonly commands?: CommandSettings | undefined;
  readonly files: Files;
  /**
   * Where searches run, one for all of them, kept open while `work` is under way and for a while after it. Throws
   * `E_SANDBOX_UNAVAILABLE`, or `E_WORKSPACE_GONE`, and then nothing is searched.
   */
  withSearchBox<T>(work: (box: SearchBox) => Promise<T>): Promise<T>;
  /** Throws `E_QUOTA` where nothing more may be written. Left out: there is no such limit. */
  checkRoom?(): Promise<void>;
  /** A sandbox for commands, of its own each time. Throws `E_SANDBOX_UNAVAILABLE`, and then nothing runs anywhere else. */
  openSandbox(): Promise<Sandbox>;
  /** Its projects, and what is known of their tests. */
  readonly checks: Checks;
}
