import type { ParsedFile } from './code-symbol.ts';

/** A file to parse: its path tells the language. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: Uint8Array;
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
}
