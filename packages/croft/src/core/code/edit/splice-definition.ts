import type { CodeSymbol, ParsedFile } from '../code-symbol.ts';
import { indentationAt, indentationUnit } from '../source-lines.ts';
import { toLines } from './indent-text.ts';
import type { Splice } from './splice.ts';

/** Puts another definition in the place of one, with its doc comment and decorators. */
export function spliceDefinition(bytes: Buffer, _parsed: ParsedFile, { range }: CodeSymbol, text: string): Splice {
  const indentation = indentationAt(bytes, range.start);
  return { range, lines: toLines(text), indent: { indentation, unit: indentationUnit(bytes), isFirstBare: true } };
}
