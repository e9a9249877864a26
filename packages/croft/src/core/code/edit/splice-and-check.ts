import type { CodeSymbol, ParsedFile, SourceRange } from '../code-symbol.ts';
import { lineNumber } from '../source-lines.ts';
import { checkSplice, findTarget, type SpliceKind } from './check-splice.ts';
import { applySplice, findLiteralLines, type Splice } from './splice.ts';

interface SpliceToCheck {
  readonly bytes: Buffer;
  readonly parsed: ParsedFile;
  readonly symbol: CodeSymbol;
  readonly splice: Splice;
  readonly kind: SpliceKind;
  parse(bytes: Buffer): Promise<ParsedFile>;
}

interface CheckedFile {
  readonly bytes: Buffer;
  /** The new bytes in the new file. */
  readonly newRange: SourceRange;
  /** The symbol in the new file. Absent: nothing is left of it, or it is where it was. */
  readonly after?: CodeSymbol | undefined;
}

/** Makes a change in memory, parses the result, and throws `E_NOT_PARSED` for one that breaks the file. */
export async function spliceAndCheck({
  bytes: before,
  parsed,
  symbol,
  splice,
  kind,
  parse,
}: SpliceToCheck): Promise<CheckedFile> {
  const { bytes, range: newRange, after } = await applyAndParse(before, splice, parse);
  const firstLine = lineNumber(bytes, newRange.start);
  const checked = { kind, target: symbol, before: parsed, after, oldRange: splice.range, newRange, firstLine };
  checkSplice(checked);
  return { bytes, newRange, after: kind === 'removal' || kind === 'insertion' ? undefined : findTarget(checked) };
}

/** Lines inside string literals are found by parsing the result, and then left as they were written. */
async function applyAndParse(before: Buffer, splice: Splice, parse: SpliceToCheck['parse']) {
  const first = applySplice(before, splice);
  const parsed = await parse(first.bytes);
  const literal = findLiteralLines(first, parsed);
  if (literal.size === 0) return { ...first, after: parsed };
  const second = applySplice(before, splice, literal);
  return { ...second, after: second.bytes.equals(first.bytes) ? parsed : await parse(second.bytes) };
}
