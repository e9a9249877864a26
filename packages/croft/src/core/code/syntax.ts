import type { ParsedFile, SymbolKind } from './code-symbol.ts';

/** A file to parse: its path tells the language. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A definition as an index keeps it. */
export interface DigestedSymbol {
  readonly name: string;
  readonly kind: SymbolKind;
  readonly containers: readonly string[];
  readonly signature: string;
  readonly doc: string;
  readonly isExported: boolean;
  readonly line: number;
  readonly endLine: number;
}

/** The part of a parsed file that an index keeps. */
export interface FileDigest {
  /** Absent: a language without a grammar. */
  readonly language?: string | undefined;
  readonly symbols: readonly DigestedSymbol[];
  /** As `ParsedFile.words`, without words that occur only where they are defined. */
  readonly words: readonly (readonly [word: string, count: number])[];
  /** Every word of the text once, names split at their borders, as a query writes them. */
  readonly text: string;
}

/**
 * Parses source files outside the main thread. The trees are forgotten as soon as they are read: files of workspaces are
 * hostile, so a parse has a deadline and its memory a limit.
 */
export interface Syntax {
  /** Extensions of the files that it can parse, with their dots. */
  readonly extensions: readonly string[];
  /** Id of the language by the extension or the name of the file; `undefined` for a language without a grammar. */
  languageOf(path: string): string | undefined;
  /**
   * Returns `undefined` for a language without a grammar. Throws `E_NOT_PARSED` for a file that is too large (1 MB), has
   * a line of more than 20,000 bytes or a NUL byte, or that takes longer than two seconds to parse.
   */
  parse(file: SourceFile, signal: AbortSignal): Promise<ParsedFile | undefined>;
  /**
   * Reads what an index keeps of a file, as the JSON of a `FileDigest`, which the main thread need not read. Any text
   * file has words; one that cannot be parsed has no symbols. Returns `undefined` for a file that `parse` refuses.
   */
  digest(file: SourceFile, signal: AbortSignal): Promise<string | undefined>;
}
