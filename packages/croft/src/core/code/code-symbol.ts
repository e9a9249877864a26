/** The kind of a symbol, in the same words for every language. */
export const symbolKinds = [
  ...(['module', 'class', 'struct', 'interface', 'trait', 'enum', 'function', 'method', 'constructor'] as const),
  ...(['field', 'property', 'constant', 'variable', 'type', 'macro', 'test'] as const),
] as const;

export type SymbolKind = (typeof symbolKinds)[number];

/** Bytes of a source file from `start` up to `end`, not including `end`. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** A position as people and models count: from 1, columns in UTF-16 units. */
export interface TextPosition {
  readonly line: number;
  readonly col: number;
}

/**
 * How the body of a definition is written: between braces; between braces on lines of their own, as shells need it;
 * as an indented block; as a single expression; or up to the word `end`.
 */
export type BodyShape = 'braces' | 'shell-braces' | 'indented' | 'expression' | 'end';

/** A definition in a file, as its syntax tree has it. */
export interface CodeSymbol {
  readonly name: string;
  readonly kind: SymbolKind;
  /** Names of the symbols around it, outermost first: `['Shop', 'Cart']`. The receiver's type counts as one. */
  readonly containers: readonly string[];
  /** The definition up to its body, on one line. */
  readonly signature: string;
  /** First line of the doc comment. Absent: there is no doc comment. */
  readonly doc?: string | undefined;
  readonly isExported: boolean;
  /** Position of the symbol's name. */
  readonly at: TextPosition;
  /** First line of the whole definition, with its doc comment and decorators. */
  readonly startLine: number;
  /** Last line of the whole definition. */
  readonly endLine: number;
  readonly nameRange: SourceRange;
  /** The whole definition with its doc comment, decorators, `export` and closing semicolon. */
  readonly range: SourceRange;
  /** The definition without doc comment and decorators. */
  readonly declarationRange: SourceRange;
  /**
   * The declaration up to the body, its `:` or `=>` included; without a body, the declaration without its semicolon.
   */
  readonly signatureRange: SourceRange;
  /**
   * The body with its braces, the block of an indented language with the comments at its top, an expression, or all
   * from the signature to the word `end`. Absent: it has none.
   */
  readonly bodyRange?: SourceRange | undefined;
  /** Present with `bodyRange`. */
  readonly bodyShape?: BodyShape | undefined;
  /** The string at the top of an indented body that documents it. Absent: it has none. */
  readonly docstringRange?: SourceRange | undefined;
}

/** Later definitions of a file are left out. */
export const maxSymbolsPerFile = 8000;

/** A file as its grammar sees it. */
export interface ParsedFile {
  readonly language: string;
  /** In the order of the file; a container comes before its members. At most `maxSymbolsPerFile`. */
  readonly symbols: readonly CodeSymbol[];
  /** How often the file mentions each word outside of comments and plain strings; keywords do not count. */
  readonly words: ReadonlyMap<string, number>;
  /** String literals of several lines, whose lines must not be indented. */
  readonly literals: readonly SourceRange[];
  /** Count of syntax errors. A grammar may also count a few in valid code. */
  readonly errors: number;
  /** Lines of the first few of them, in order. */
  readonly errorLines: readonly number[];
}
