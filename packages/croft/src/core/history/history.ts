import type { Replacement } from '../files.ts';
import type { PathChange, Root, TreePath } from './tree.ts';

/** By what a call is known in the history. */
export interface HistoryCall {
  readonly tool: string;
  readonly session: string;
  /** The command, the path: what a person recognises it by. Redacted. */
  readonly title: string;
}

export interface Snapshot {
  readonly name: string;
  readonly description: string;
  readonly root: Root;
  readonly createdAt: string;
  readonly files: number;
  readonly bytes: number;
  readonly includesIgnored: boolean;
  /** What the checks said of exactly this tree. Left out: nothing is known. */
  readonly checks?: readonly KnownCheck[] | undefined;
  /** Made by Croft: before a restore, a merge. Goes with age. */
  readonly isAutomatic?: true | undefined;
  /** What could not be read, and is not in it as it was: the first of them. */
  readonly missed?: readonly TreePath[] | undefined;
}

export interface KnownCheck {
  readonly tool: string;
  readonly project: string;
  readonly verdict: 'passed' | 'failed' | 'broken' | 'clean' | 'findings';
  readonly at: string;
}

/** What a restore, an undo or a merge did. */
export interface TreeReport {
  readonly added: readonly TreePath[];
  readonly changed: readonly TreePath[];
  readonly removed: readonly TreePath[];
  /** Paths that no agent may change. */
  readonly refused: readonly TreePath[];
  /** What takes this back: the name of a snapshot of what was there before, or the checkpoint to undo. Empty: nothing was changed. */
  readonly takenBackBy: string;
}

export interface Checkpoint {
  /** Ordered: a later one is greater. */
  readonly id: string;
  readonly call: HistoryCall;
  readonly at: string;
  readonly before: Root;
  readonly after: Root;
  readonly paths: number;
  /** Other calls that were under way at the same time: what it changed may be theirs. */
  readonly alongside?: readonly HistoryCall[] | undefined;
  readonly undoneBy?: string | undefined;
  /** The workspace was still being read for the first time when it began: what it changed until then is not in it. */
  readonly isPartial?: true | undefined;
}

export type FileDiff = PathChange & {
  /** A unified diff, where both are text and not too long. */
  readonly text?: string | undefined;
};

/** For a call that knows what it changes. */
export interface Telling {
  changed(replacement: Replacement): void;
  /** Around what it has others do, after all it told: what changes meanwhile is looked for. */
  looking<T>(work: () => Promise<T>): Promise<T>;
}

/** What a workspace was, and how to get back there. */
export interface History {
  snapshot(options: {
    name: string;
    description?: string | undefined;
    includeIgnored?: boolean;
    signal: AbortSignal;
  }): Promise<Snapshot & { readonly replaced?: true | undefined }>;
  /** Newest first. */
  snapshots(): Promise<Snapshot[]>;
  /** Throws `E_NOT_FOUND`, with the names there are. */
  diff(options: { from: string; to?: string | undefined; signal: AbortSignal }): Promise<FileDiff[]>;
  /** `'green'`: the newest tree whose tests passed, a snapshot or what a call left behind. */
  restore(target: { name: string } | 'green', signal: AbortSignal): Promise<{ snapshot: string; report: TreeReport }>;
  remove(name: string): Promise<void>;

  /** Around a call that may change files: afterwards there is a checkpoint if it did. */
  record<T>(call: HistoryCall, work: () => Promise<T>): Promise<T>;
  /**
   * The same of a call that tells what it changes. Nothing is looked at, and the checkpoint is made after this returns:
   * whoever asks for checkpoints, undoes or looks waits for it. A crash in between loses no file, only what the call could
   * be undone by: the next start takes what it changed for nobody's.
   */
  recordTold<T>(call: HistoryCall, work: (telling?: Telling) => Promise<T>): Promise<T>;
  /** Newest first. */
  checkpoints(limit: number): Promise<Checkpoint[]>;
  /** The last `count` calls that changed something, or one of them. Throws `E_CONFLICT` with the paths that later calls touched, and changes nothing. */
  undo(
    what: { count: number } | { id: string },
    signal: AbortSignal,
  ): Promise<{ undone: readonly Checkpoint[]; report: TreeReport }>;

  /** The tree as it is now, without what git ignores. Asked before a check runs. Nothing if it cannot be read. */
  look(): Promise<Root | undefined>;
  /** That a check said so of the tree it was run on. Noted only if nothing that was there has changed since. Never throws. */
  learned(check: KnownCheck, of: Root | undefined): Promise<void>;
}
