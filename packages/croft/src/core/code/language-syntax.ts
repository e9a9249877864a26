import type { BodyShape, CodeSymbol } from './code-symbol.ts';

/** One language of the parser: its files, its grammar, and a query that finds its definitions. */
export interface LanguageSyntax {
  readonly id: string;
  /** Without the dot, in lower case. */
  readonly extensions: readonly string[];
  /** File names of this language, for files whose extension does not tell it: `Makefile`. */
  readonly fileNames?: readonly string[];
  /** A WebAssembly file of an installed package. */
  readonly grammar: { readonly package: string; readonly file: string };
  /**
   * A query of tree-sitter. Each match captures a definition as `@def.<kind>` with its `@name`, and what it has of:
   *
   * - `@body`, written as `body` says, or `@body.expression`
   * - `@params`: the end of the signature, where a body has no node of its own
   * - `@receiver`: the type that a method belongs to, written outside of that type
   * - `@scope` and `@scope.name`: a container that is no definition itself, such as an `impl` block
   *
   * Further captures: `@comment`, `@decorator` (also attributes and annotations), `@literal` (every kind of string),
   * `@docstring`, and `@heredoc` (text that belongs to the line before it).
   *
   * The first pattern that captures a name decides about it.
   */
  readonly query: string;
  /** Types of nodes that belong to the only definition in them: `export_statement`, `decorated_definition`. */
  readonly wrappers: readonly string[];
  readonly body: BodyShape;
  isExported(symbol: Pick<CodeSymbol, 'name' | 'signature' | 'containers'>): boolean;
}
