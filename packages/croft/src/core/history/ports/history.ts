import type { FileReplacement } from '../../files/files.ts';
import type { PathChange, TreeEntry, TreeHash, TreePath } from './tree.ts';
import type { UnverifiedReason } from './unverified-reason.ts';

/** Identifies a call in the history. */
export interface HistoryCall {
  /** As events and the audit trail name the call. Left out for a runner of an older release. */
  readonly id?: string | undefined;
  readonly tool: string;
  readonly session: string;
  /** The command or the path, by which a person recognises the call. Redacted. */
  readonly title: string;
  /**
   * Says which changes of the call are by-products, which belong to no undo step. `all`: everything that a check leaves
   * behind (caches, reports). `new`: the new files of a formatter. Absent: no change.
   */
  readonly byproducts?: 'all' | 'new' | undefined;
}

/** The result of a check, and the files that existed before it and changed during it, whoever changed them. */
export interface CheckedWork<T> {
  readonly result: T;
  readonly altered: readonly PathChange[];
  /** Why it is unknown whether files changed. Without it, `altered` is complete. */
  readonly unverified?: UnverifiedReason | undefined;
}

export interface Snapshot {
  readonly name: string;
  readonly description: string;
  readonly root: TreeHash;
  readonly createdAt: string;
  readonly files: number;
  readonly bytes: number;
  readonly includesIgnored: boolean;
  /** Verdicts of checks on exactly this tree. Without it, none are known. */
  readonly checks?: readonly CheckVerdict[] | undefined;
  /** Croft made the snapshot, before a restore or a merge. It is deleted with age. */
  readonly isAutomatic?: true | undefined;
  /** The first paths that could not be read and are not in the snapshot as they were. */
  readonly missed?: readonly TreePath[] | undefined;
}

export interface CheckVerdict {
  readonly tool: string;
  readonly project: string;
  readonly verdict: 'passed' | 'failed' | 'broken' | 'clean' | 'findings';
  readonly at: string;
}

/** The effect of a restore, an undo or a merge. */
export interface TreeReport {
  readonly added: readonly TreePath[];
  readonly changed: readonly TreePath[];
  readonly removed: readonly TreePath[];
  /** Control files, which were not changed. */
  readonly refused: readonly TreePath[];
  /** Undoes this: the name of a snapshot of the tree before, or the checkpoint to undo. Empty if nothing changed. */
  readonly takenBackBy: string;
}

export interface Checkpoint {
  /** Later checkpoints have greater ids. */
  readonly id: string;
  readonly call: HistoryCall;
  readonly at: string;
  readonly before: TreeHash;
  readonly after: TreeHash;
  readonly paths: number;
  /** Other calls that ran at the same time. Some of the changes may be theirs. */
  readonly alongside?: readonly HistoryCall[] | undefined;
  readonly undoneBy?: string | undefined;
  /**
   * The call began while the workspace was being read for the first time. Changes made before the end of that read are
   * missing.
   */
  readonly isPartial?: true | undefined;
}

export type FileDiff = PathChange & {
  /** A unified diff, if both sides are text and not too long. */
  readonly text?: string | undefined;
};

export type OnNotUndoable = (reason: string) => void;

/** Given to a call that knows exactly what it changes, to report its changes. */
export interface ChangeReporter {
  changed(replacement: FileReplacement): void;
  /** Ends the reports: the call has reported all of its own changes, and others may capture the tree again. */
  finish(): void;
  /**
   * Captures the tree around a formatter that runs after the reports. Its changes belong to the call, except for new
   * files.
   */
  captureAround<T>(work: () => Promise<T>): Promise<T>;
}

/** Reads earlier trees, for people. */
export interface PastTrees {
  /** Returns what one call changed. Throws `E_NOT_FOUND`. */
  diffOf(
    checkpoint: string,
    signal: AbortSignal,
  ): Promise<{ readonly checkpoint: Checkpoint; readonly changes: readonly FileDiff[] }>;
  /** The entries of one folder of a snapshot. Throws `E_NOT_FOUND` and `E_FILE_NOT_FOUND`. */
  list(
    snapshot: string,
    directory: TreePath,
  ): Promise<readonly { readonly path: TreePath; readonly entry: TreeEntry }[]>;
  /** Throws `E_TOO_LARGE` too. */
  read(snapshot: string, path: TreePath): Promise<Buffer>;
}

/** Snapshots, checkpoints and undo of one workspace. */
export interface History {
  /** Absent: the history is on a runner of an older release, which does not show earlier trees. */
  readonly past?: PastTrees | undefined;
  snapshot(options: {
    name: string;
    description?: string | undefined;
    includeIgnored?: boolean;
    signal: AbortSignal;
  }): Promise<Snapshot & { readonly replaced?: true | undefined }>;
  /** Newest first. */
  snapshots(): Promise<Snapshot[]>;
  /** Throws `E_NOT_FOUND` and lists the existing names. */
  diff(options: { from: string; to?: string | undefined; signal: AbortSignal }): Promise<FileDiff[]>;
  /** `'green'`: the newest tree whose tests passed, from a snapshot or from a checkpoint. */
  restore(target: { name: string } | 'green', signal: AbortSignal): Promise<{ snapshot: string; report: TreeReport }>;
  remove(name: string): Promise<void>;

  /**
   * Runs a call that may change files, and adds a checkpoint if it did. Before this returns, `onNotUndoable` is called with
   * the reason if the call cannot be undone as a whole.
   */
  record<T>(call: HistoryCall, work: () => Promise<T>, onNotUndoable?: OnNotUndoable): Promise<T>;
  /**
   * Runs a call that reports its own changes. The tree is not captured, and the checkpoint is written after this
   * returns; listing checkpoints, undoing and capturing wait for it. A crash in between loses no file, only the ability
   * to undo the call: the next start attributes the changes to nobody.
   */
  recordReported<T>(
    call: HistoryCall,
    work: (reporter?: ChangeReporter) => Promise<T>,
    onNotUndoable?: OnNotUndoable,
  ): Promise<T>;
  /**
   * Runs a check that must not change files. Changes made meanwhile belong to no undo step, unless another running call
   * may have made them.
   */
  recordCheck<T>(call: HistoryCall, work: () => Promise<T>): Promise<CheckedWork<T>>;
  /**
   * Restores what was before each of these changes. Returns the paths that have changed since, which are left as they
   * are.
   */
  revertChanges(changes: readonly PathChange[]): Promise<readonly TreePath[]>;
  /** Newest first. */
  checkpoints(limit: number): Promise<Checkpoint[]>;
  /**
   * Undoes the last `count` calls that changed something, or one checkpoint. Throws `E_CONFLICT` with the paths that
   * later calls touched, and then changes nothing.
   */
  undo(
    what: { count: number } | { id: string },
    signal: AbortSignal,
  ): Promise<{ undone: readonly Checkpoint[]; report: TreeReport }>;

  /**
   * Returns the hash of the tree as it is now, without files that git ignores, or `undefined` if it cannot be read.
   * Called before a check runs.
   */
  captureSource(): Promise<TreeHash | undefined>;
  /**
   * Records the verdict of a check on the tree that the check ran on. Does nothing if files of that tree have changed
   * since. Never throws.
   */
  recordVerdict(check: CheckVerdict, of: TreeHash | undefined): Promise<void>;
}
