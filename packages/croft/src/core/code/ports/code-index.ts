/** One term of a query, in all forms that match it. */
export interface QueryTerm {
  /** In lower case. The first form is the caller's; the others mean the same. */
  readonly forms: readonly string[];
  /** Text in quotes is found as it is written, and only so. */
  readonly isLiteral: boolean;
}

export interface ParsedQuery {
  readonly terms: readonly QueryTerm[];
  /** The whole query without spaces and signs, in lower case: `parse config` asks for `parseconfig` too. */
  readonly joined: string;
  /** The query as a name, if it is one word. */
  readonly name?: string | undefined;
}

/** A definition, or a line of a file whose language has no grammar. */
export interface CodeHit {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  /** With its containers: `Shop.Cart.add`. Absent for a line. */
  readonly name?: string | undefined;
  /** The signature, or the line. */
  readonly text: string;
  readonly doc?: string | undefined;
  readonly score: number;
}

/** A question to the index of a workspace. */
export interface IndexQuestion {
  readonly query: ParsedQuery;
  /** File or directory, from the root; empty for the whole workspace. */
  readonly scope: string;
  readonly language?: string | undefined;
  readonly kind?: string | undefined;
}

interface IndexAnswer {
  /** The best hits, the best first. */
  readonly hits: readonly CodeHit[];
  /** The worth of each term of the query: a rare word says more. */
  readonly rarity: readonly number[];
  /** Files with words of the query in their text, when no definition answers all of it. */
  readonly texts: readonly string[];
  /** Changed files that the index has not read again: their text has to be searched. */
  readonly stale: readonly string[];
}

export interface MapQuestion {
  /** Files, directories and names that the reader cares about. */
  readonly focus: readonly string[];
  /** Most definitions to answer. */
  readonly limit: number;
}

/** A definition that other files mention. */
export interface MappedSymbol {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  /** With its containers. */
  readonly name: string;
  readonly signature: string;
}

interface IndexMap {
  /** The definitions that matter most first. */
  readonly symbols: readonly MappedSymbol[];
  /** Every file of the workspace is in the index as it is now. */
  readonly isComplete: boolean;
}

/** The definitions and words of a workspace, so that a search need not read all files. */
export interface CodeIndex {
  /**
   * Takes in what changed, for a short time, and answers. `undefined`: the index is still being built, or cannot answer
   * soon. The files themselves answer then.
   */
  search(question: IndexQuestion, signal: AbortSignal): Promise<IndexAnswer | undefined>;
  /**
   * Ranks definitions by how much other files depend on them. Waits for a first index, for a while. `undefined`: there is
   * none yet.
   */
  map(question: MapQuestion, signal: AbortSignal): Promise<IndexMap | undefined>;
}
