import type { IndexQuestion, MappedSymbol, MapQuestion } from '../core/code/ports/code-index.ts';
import type { FoundInIndex } from './find-symbols.ts';
import type { FileTime } from './listed-files-table.ts';
import type { DueFile } from './read-due-files.ts';
import type { ReadFile } from './store-read-files.ts';

/** How far an index is. */
interface IndexState {
  /** All files of the workspace were listed once. */
  readonly isListed: boolean;
  /** Files that have to be read, at most `limit` of them. */
  readonly due: readonly DueFile[];
}

/** The questions that threads of the index answer, by name, each with its parameters and its answer. */
export interface IndexWork {
  state: { readonly given: { readonly limit: number }; readonly answer: IndexState };
  note: { readonly given: { readonly paths: readonly string[] }; readonly answer: readonly string[] };
  add: { readonly given: { readonly paths: readonly string[] }; readonly answer: null };
  list: {
    readonly given: { readonly files: readonly FileTime[]; readonly isFirst: boolean; readonly isLast: boolean };
    readonly answer: null;
  };
  store: { readonly given: { readonly files: readonly ReadFile[] }; readonly answer: null };
  find: { readonly given: IndexQuestion; readonly answer: FoundInIndex };
  map: { readonly given: MapQuestion; readonly answer: readonly MappedSymbol[] };
  rank: { readonly given: null; readonly answer: null };
  tidy: { readonly given: null; readonly answer: null };
  close: { readonly given: null; readonly answer: null };
}

export type IndexTask = {
  [Name in keyof IndexWork]: { readonly name: Name; readonly given: IndexWork[Name]['given'] };
}[keyof IndexWork];

export interface IndexRequest {
  readonly file: string;
  readonly maxBytes: number;
  readonly task: IndexTask;
}

/** `full`: the index has its most bytes, or the disk is full. `busy`: another process holds it. */
export type IndexReply = { readonly answer: unknown } | { readonly failed: 'full' | 'busy' | 'broken'; why: string };
