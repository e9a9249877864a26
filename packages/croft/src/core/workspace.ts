import type { Checks } from './checks/checks.ts';
import type { CommandSettings } from './commands/runtimes.ts';
import type { Sandbox } from './commands/sandbox.ts';
import type { FileDoor } from './content/file-door.ts';
import type { FileSearch } from './content/ripgrep.ts';
import type { SearchBox } from './content/search-box.ts';
import type { Files } from './files.ts';
import type { Forks } from './history/forks.ts';
import type { History, Telling } from './history/history.ts';
import type { Transactions } from './history/transactions.ts';
import type { PermissionMode } from './permission.ts';
import type { ToolAccess } from './tool.ts';

export type WorkspaceAccess = 'read-write' | 'read-only';

/** One call, for whoever stands around it. */
export interface CallAround {
  readonly tool: string;
  readonly access: ToolAccess;
  readonly session: string;
  /** What a person recognises it by, redacted: a command, a path. */
  readonly title: string;
  readonly signal: AbortSignal;
  /** Whether it tells what it changes, so that nobody has to look. */
  readonly tells?: boolean | undefined;
  /** Whether it changes no file, so that there is nothing to look for. */
  readonly leavesFiles?: boolean | undefined;
}

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
  /** Lists files as a search box would, where they are in no directory of this machine. Left out: the box does. */
  listFiles?(search: FileSearch): Promise<{ unreadable: number }>;
  /** Throws `E_QUOTA` where nothing more may be written. Left out: there is no such limit. */
  checkRoom?(): Promise<void>;
  /** A sandbox for commands, of its own each time. Throws `E_SANDBOX_UNAVAILABLE`, and then nothing runs anywhere else. */
  openSandbox(): Promise<Sandbox>;
  /** Its projects, and what is known of their tests. */
  readonly checks: Checks;
  /**
   * Around each call that is let in: before it what others committed is taken in, after it what it changed is made
   * durable and remembered. `work` is given whom to tell what it changes, where somebody wants to know. What this throws
   * is what the call answers. Left out: there is nothing to do.
   */
  around?<T>(call: CallAround, work: (telling?: Telling) => Promise<T>): Promise<T>;
  /** Left out: nothing of what it was is kept. */
  readonly history?: History | undefined;
  /** As `FileDoor.watch`: for a live feed of changes. */
  readonly watch?: NonNullable<FileDoor['watch']>;
  readonly transactions?: Transactions | undefined;
  readonly forks?: Forks | undefined;
}
