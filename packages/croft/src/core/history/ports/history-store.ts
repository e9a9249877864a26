import type { TreeHash } from './tree.ts';

/** Bytes and their hash. A content too large for memory comes in pieces. */
export interface Content {
  readonly hash: string;
  readonly size: number;
  readonly bytes: Uint8Array | (() => AsyncIterable<Uint8Array>);
}

/** A named record about a workspace, such as a snapshot or a checkpoint. Plain JSON. */
export type HistoryNote = Readonly<Record<string, unknown>>;
export type NoteKind = 'snapshot' | 'checkpoint' | 'transaction' | 'mark' | 'fork';

export interface NoteToStore {
  readonly kind: NoteKind;
  readonly name: string;
  readonly note: HistoryNote;
  /** If a note of this name exists, nothing is stored and `E_ALREADY_EXISTS` is thrown. For checkpoints. */
  readonly isNew?: boolean | undefined;
}

/** Limits what is stored automatically. */
export interface HistoryQuota {
  /** Reserves bytes. Returns false, and counts one dropped content, if they do not fit. */
  reserve(bytes: number): boolean;
  /** Number of bytes that still fit. */
  bytesLeft(): number;
  /** Whether older history has to be deleted, because the quota is nearly used up. */
  isNearlyFull(): boolean;
  /** Whether the history uses more than its quota. */
  isExceeded(): boolean;
  /** Number of contents that were not stored because of the quota, since the store was opened. */
  readonly droppedContents: number;
  /** Why nothing more is stored. */
  reason(): string;
}

/**
 * Stores the history of a workspace: contents by hash, each once, and notes about them. It is outside the workspace,
 * where no call and no command reaches it. After a crash a call is stored completely or not at all, and no note lacks
 * its contents. Snapshots, transactions and forks are durable when the call that writes them returns. Checkpoints and
 * verdicts, which come with every call, survive a crash of a program, but perhaps not a power cut. The checkpoint of a
 * call that reports its changes is written shortly after the answer (`History.recordReported`); if a crash comes first,
 * the changes belong to nobody.
 */
export interface HistoryStore extends AsyncDisposable {
  /** Without it, the store grows as far as its storage allows. */
  readonly quota?: HistoryQuota | undefined;
  /** Returns those of the hashes that the store does not have. */
  findMissing(hashes: readonly string[]): Promise<Set<string>>;
  /**
   * Skips contents that the store has. Throws `E_STORAGE_FULL`, `E_STORAGE_UNAVAILABLE`. The caller has hashed whole
   * contents; pieces are hashed again, and refused if the hash differs.
   */
  put(contents: readonly Content[], notes?: readonly NoteToStore[]): Promise<void>;
  /** Throws `E_STORAGE_FAILED` if the content is missing or damaged: every read is hashed again. */
  read(hash: string): Promise<Buffer>;
  /** Reads a content in pieces. */
  open(hash: string): AsyncIterable<Buffer>;

  note(kind: NoteKind, name: string): Promise<HistoryNote | undefined>;
  /** Sorted by name. */
  notes(kind: NoteKind): Promise<{ name: string; note: HistoryNote }[]>;
  dropNotes(kind: NoteKind, names: readonly string[]): Promise<void>;

  /**
   * Deletes every content that is reachable neither from these trees nor from notes. Contents stored meanwhile stay.
   * `dropped` lists trees that nobody needs any more, however new. `onBegun` is called once contents stored or asked
   * for are safe, if that is before the end. Returns the number of bytes freed.
   */
  collectGarbage(live: readonly TreeHash[], dropped?: readonly TreeHash[], onBegun?: () => void): Promise<number>;
  /** Number of bytes that the store uses. */
  size(): Promise<number>;
  /** Growth in bytes since the last garbage collection. Absent where collections do not shrink the store at once. */
  grownSinceCollection?(): Promise<number>;
}
