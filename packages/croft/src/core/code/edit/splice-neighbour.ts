import type { CodeSymbol, ParsedFile } from '../code-symbol.ts';
import {
  blankLinesAfter,
  blankLinesBefore,
  indentationAt,
  indentationUnit,
  isBlank,
  lineEnd,
  lineEndingOf,
  lineStart,
  nextLine,
} from '../source-lines.ts';
import { toLines } from './indent-text.ts';
import type { Splice } from './splice.ts';

const dataKinds: ReadonlySet<string> = new Set(['field', 'property', 'constant', 'variable']);
/** A comment after a definition on its last line belongs to that line, and so does a comma. */
const restOfLine = /^\s*,?\s*(?:\/\/.*|#.*|--.*|\/\*.*\*\/\s*)?$/;

/** Puts a text after a definition, with as many blank lines between as its neighbours have. */
export function spliceAfter(bytes: Buffer, parsed: ParsedFile, symbol: CodeSymbol, text: string): Splice {
  const { end } = symbol.range;
  const ending = lineEndingOf(bytes);
  const indentation = indentationAt(bytes, symbol.range.start);
  const rest = bytes.toString('utf8', end, lineEnd(bytes, end));
  const lines = withComma(toLines(text), rest);
  const gap = ending.repeat(1 + countGap(bytes, parsed, symbol, lines.length > 1));
  const indent = { indentation, unit: indentationUnit(bytes) };
  if (restOfLine.test(rest)) {
    const at = lineEnd(bytes, end);
    return { range: { start: at, end: at }, before: gap, lines, indent };
  }
  // More code follows on the same line.
  const space = rest.length - rest.trimStart().length;
  return { range: { start: end, end: end + space }, before: gap, lines, after: gap + indentation, indent };
}

/** Puts a text before a definition and the comments and decorators above it. */
export function spliceBefore(bytes: Buffer, parsed: ParsedFile, symbol: CodeSymbol, text: string): Splice {
  const { start } = symbol.range;
  const ending = lineEndingOf(bytes);
  const indentation = indentationAt(bytes, start);
  const line = lineStart(bytes, start);
  const rest = bytes.toString('utf8', symbol.range.end, lineEnd(bytes, symbol.range.end));
  const lines = withComma(toLines(text), rest);
  const indent = { indentation, unit: indentationUnit(bytes) };
  if (!isBlank(bytes, line, start)) {
    const glued = { ...indent, isFirstBare: true };
    return { range: { start, end: start }, lines, after: ending + indentation, indent: glued };
  }
  const above = blankLinesBefore(bytes, line);
  const gap = hasNeighbourAbove(bytes, parsed, above)
    ? bytes.toString('latin1', above, line)
    : ending.repeat(countGap(bytes, parsed, symbol, lines.length > 1));
  return { range: { start: line, end: line }, lines, after: ending + gap, indent };
}

/** Takes a definition away with the blank lines that an insertion adds, so that it undoes an insertion exactly. */
export function spliceOut(bytes: Buffer, parsed: ParsedFile, symbol: CodeSymbol): Splice {
  const { range } = symbol;
  const nothing = { lines: [], indent: { indentation: '', unit: '' } };
  const line = lineStart(bytes, range.start);
  const rest = bytes.toString('latin1', range.end, lineEnd(bytes, range.end));
  const isAlone = isBlank(bytes, line, range.start) && /^\s*,?\s*$/.test(rest);
  if (!isAlone) {
    const end = range.end + rest.length - rest.trimStart().length;
    return { ...nothing, range: { start: range.start, end } };
  }
  const end = nextLine(bytes, range.end);
  const above = blankLinesBefore(bytes, line);
  if (!hasNeighbourAbove(bytes, parsed, above))
    return { ...nothing, range: { start: line, end: blankLinesAfter(bytes, end) } };
  // Without a newline at its end, the last line takes the newline before it along.
  const isUnended = end === bytes.length && bytes[end - 1] !== 10;
  const start = isUnended ? lineEnd(bytes, lineStart(bytes, above - 1)) : above;
  return { ...nothing, range: { start, end } };
}

/** Whether the line before `at` ends a definition, or at least opens no block. */
function hasNeighbourAbove(bytes: Buffer, { symbols }: ParsedFile, at: number): boolean {
  const previous = lineStart(bytes, at - 1);
  if (at === 0 || previous >= at) return false;
  const end = lineEnd(bytes, previous);
  if (symbols.some(({ range }) => range.end > previous && range.end <= end)) return true;
  return !/[{([:]\s*$/.test(bytes.toString('latin1', previous, end));
}

/** How many blank lines are between this definition and the next, or else the previous. */
function countGap(bytes: Buffer, { symbols }: ParsedFile, symbol: CodeSymbol, isLong: boolean): number {
  const { range, kind } = symbol;
  const least = isLong && dataKinds.has(kind) ? 1 : 0;
  const after = nextLine(bytes, range.end);
  const next = symbols.find((other) => lineStart(bytes, other.range.start) === blankLinesAfter(bytes, after));
  if (next && next.range.start > range.end)
    return Math.max(least, countLines(bytes, after, blankLinesAfter(bytes, after)));
  const line = lineStart(bytes, range.start);
  const above = blankLinesBefore(bytes, line);
  const previous = symbols.some(
    (other) => other.range.end < range.start && other.range.end > lineStart(bytes, above - 1),
  );
  if (previous) return Math.max(least, countLines(bytes, above, line));
  return dataKinds.has(kind) ? least : 1;
}

function countLines(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at = nextLine(bytes, at)) count++;
  return count;
}

/** A member of a list that is followed by a comma gets neighbours with commas. */
function withComma(lines: readonly string[], rest: string): readonly string[] {
  const last = lines.at(-1) ?? '';
  if (!/^\s*,/.test(rest) || /[,;]\s*$/.test(last)) return lines;
  return [...lines.slice(0, -1), `${last.trimEnd()},`];
}
