import type { Root } from './tree.ts';

/** Bytes and what they hash to. A content too large to be held comes in pieces. */
export interface Content {
  readonly hash: string;
  readonly size: number;
  readonly bytes: Uint8Array | (() => AsyncIterable<Uint8Array>);
}

/** What is remembered of a workspace under a name: a snapshot, a checkpoint. Plain JSON. */
export type Note = Readonly<Record<string, unknown>>;
export type NoteKind = 'snapshot' | 'checkpoint' | 'transaction' | 'mark' | 'fork';

/**
 * What a workspace was: contents by their hash, each kept once, and notes about them. Outside the workspace, where no
 * call and no command reaches it. A crash leaves all of a call or nothing, and never a note whose contents are not there.
 * Snapshots, transactions and forks are durable when the call that notes them returns; checkpoints and marks, which come
 * with every call, outlive any crash of a program, and perhaps not a power cut. The checkpoint of a call that tells what it
 * changes is noted only soon after its answer (`History.recordTold`): what a crash takes with it before that is nobody's.
 */
export interface HistoryStore extends AsyncDisposable {
  /** Those of them it does not have. */
  lacks(hashes: readonly string[]): Promise<Set<string>>;
  /** Skips what it has. Throws `E_STORAGE_FULL`, `E_STORAGE_UNAVAILABLE`. Whoever calls has hashed the bytes; pieces are hashed again, and what does not fit is refused. */
  keep(contents: readonly Content[], notes?: readonly { kind: NoteKind; name: string; note: Note }[]): Promise<void>;
  /** Throws `E_STORAGE_FAILED` for what is not there or has rotted: what is read is hashed again. */
  read(hash: string): Promise<Buffer>;
  /** In pieces. */
  open(hash: string): AsyncIterable<Buffer>;

  note(kind: NoteKind, name: string): Promise<Note | undefined>;
  /** In order of name. */
  notes(kind: NoteKind): Promise<{ name: string; note: Note }[]>;
  dropNotes(kind: NoteKind, names: readonly string[]): Promise<void>;

  /** Takes away every content that is not reachable from these trees. What is kept meanwhile stays. Answers how many bytes. */
  collect(live: readonly Root[]): Promise<number>;
  /** How much room it takes. */
  size(): Promise<number>;
}
