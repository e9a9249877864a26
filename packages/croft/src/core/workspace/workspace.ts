import type { CheckRegistry } from '../checks/check-registry.ts';
import type { CodeIndex } from '../code/ports/code-index.ts';
import type { CodeQuestions } from '../code/ports/code-questions.ts';
import type { Syntax } from '../code/syntax.ts';
import type { CommandSettings } from '../commands/command-settings.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import type { WatchFiles } from '../content/changes/file-access.ts';
import type { FileSearch } from '../content/search/ripgrep.ts';
import type { SearchBox } from '../content/search/search-box.ts';
import type { Files } from '../files/files.ts';
import type { Forks } from '../history/ports/forks.ts';
import type { ChangeReporter, History, OnNotUndoable } from '../history/ports/history.ts';
import type { Transactions } from '../history/ports/transactions.ts';
import type { ToolAccess } from '../tools/tool.ts';
import type { PermissionMode } from './permission.ts';

export type WorkspaceAccess = 'read-write' | 'read-only';

/** One call in a workspace, as `Workspace.wrapCall` and the history see it. */
export interface WorkspaceCall {
  /** As events and the audit trail name the call. */
  readonly id?: string | undefined;
  readonly tool: string;
  readonly access: ToolAccess;
  readonly session: string;
  /** A redacted title by which a person recognises the call: a command, a path. */
  readonly title: string;
  readonly signal: AbortSignal;
  /** Whether the call reports its change, so that the history need not compare trees. */
  readonly reportsChanges?: boolean | undefined;
  /** Whether the call changes no file, so that the history need not compare trees. */
  readonly leavesFiles?: boolean | undefined;
  /** Changes of the call that `undo` skips, as in `HistoryCall`. */
  readonly byproducts?: 'all' | 'new' | undefined;
  /**
   * Called with the reason when a change of the call cannot be undone because its content was not stored. Never called
   * for a workspace on a runner.
   */
  readonly onNotUndoable?: OnNotUndoable | undefined;
  /**
   * Called with a notice for the answer when changes wait on this machine for their storage. Absent: nobody wants to
   * know.
   */
  readonly onUnstored?: ((notice: string) => void) | undefined;
}

/**
 * Wraps a call: before `work`, applies what others committed; after it, makes the changes of the call durable and
 * records them. `work` may receive an object to report its changes to. An error before `work` has run is the answer of
 * the call; for an error after it see `core/calls/run-wrapped-call.ts`.
 */
export type WrapCall = <T>(call: WorkspaceCall, work: (reporter?: ChangeReporter) => Promise<T>) => Promise<T>;

/** The network of a sandbox as its owner has written it. */
export interface ShownNetwork {
  readonly mode: 'allow-all' | 'deny-all' | 'restricted';
  /** For `restricted`: hosts and address blocks. */
  readonly hosts: readonly string[];
}

/** A durable, named tree of files, and the sandbox for its commands. */
export interface Workspace {
  /** Stays the same when the name changes. An approval for one workspace is not valid for another of the same name. */
  readonly id: string;
  readonly name: string;
  /** The path of the root as shown to the model. */
  readonly root: string;
  readonly access: WorkspaceAccess;
  /** Decides which calls need the approval of a person. */
  readonly permission: PermissionMode;
  /** Hosts that commands may reach, for the people who decide approvals. Absent: no command runs here. */
  readonly network?: ShownNetwork | undefined;
  /** True when each call finds the workspace empty, and nothing of a call remains for the next. */
  readonly isFleeting?: true | undefined;
  /**
   * True when a sandbox may open while the history captures the files before a call. Absent: files may have to be
   * fetched first, which must be there when a sandbox looks for control files, or a new sandbox changes files.
   */
  readonly mayOpenEarly?: true | undefined;
  /** Absent: commands have the limits of their sandbox only. */
  readonly commands?: CommandSettings | undefined;
  readonly files: Files;
  /**
   * Runs `work` with the search box, which all searches share and which stays open for a while afterwards. Throws
   * `E_SANDBOX_UNAVAILABLE` or `E_WORKSPACE_GONE`, and then nothing is searched.
   */
  withSearchBox<T>(work: (box: SearchBox) => Promise<T>): Promise<T>;
  /**
   * Lists files like a search box, for a workspace without a directory on this machine. Absent: the search box lists
   * them.
   */
  readonly listFiles?: ((search: FileSearch) => Promise<{ unreadable: number }>) | undefined;
  /** Throws `E_QUOTA` when the storage quota is used up. Absent: there is no such limit. */
  readonly checkQuota?: (() => Promise<void>) | undefined;
  /**
   * Opens a new sandbox for commands. Throws `E_SANDBOX_UNAVAILABLE`: commands never fall back to run anywhere else.
   */
  openSandbox(): Promise<Sandbox>;
  /** The projects of the workspace, and the results of their tests. */
  readonly checks: CheckRegistry;
  /** Parses its source files. Absent: tools that need it are refused. */
  readonly syntax?: Syntax | undefined;
  /** Absent: searches for code read the files. */
  readonly codeIndex?: CodeIndex | undefined;
  /** Answers questions about its code, with language servers if there are any. */
  readonly code: CodeQuestions;
  /** Wraps every accepted call. Absent: there is nothing to do. */
  readonly wrapCall?: WrapCall | undefined;
  /** Absent: no history is kept. */
  readonly history?: History | undefined;
  /** Watches for changes, for a live feed. */
  readonly watch?: WatchFiles | undefined;
  readonly transactions?: Transactions | undefined;
  readonly forks?: Forks | undefined;
}
