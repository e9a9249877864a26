import { AppError } from '@croft/protocol';
import type { CodeSymbol, SourceRange } from '../code-symbol.ts';
import { indentationAt, indentationUnit, isBlank, lineEnd, lineEndingOf, lineStart } from '../source-lines.ts';
import { fullName } from '../symbols/symbol-address.ts';
import { toLines } from './indent-text.ts';
import type { Splice } from './splice.ts';

/** Puts a new body into a function: without braces, an indented block, an expression, or lines up to `end`. */
export function spliceBody(bytes: Buffer, symbol: CodeSymbol, newBody: string): Splice {
  const { bodyRange: body } = symbol;
  if (!body)
    throw new AppError('E_NOT_PARSED', `${fullName(symbol)} has no body`, {
      hint: 'Nothing was changed. Use replace_symbol for the whole definition.',
    });
  const lines = toLines(newBody);
  switch (symbol.bodyShape) {
    case 'indented':
      return spliceBlock(bytes, symbol, body, lines);
    case 'expression':
      return spliceExpression(bytes, symbol, body, lines);
    case 'end':
      return spliceLines(bytes, { start: body.start, end: body.end - 'end'.length }, lines, body.start);
    case 'shell-braces':
      return spliceLines(bytes, inside(body), lines.length === 0 ? [':'] : lines, body.start);
    default:
      return spliceBraces(bytes, inside(body), lines);
  }
}

function inside({ start, end }: SourceRange): SourceRange {
  return { start: start + 1, end: end - 1 };
}

function spliceBraces(bytes: Buffer, range: SourceRange, lines: readonly string[]): Splice {
  const unit = indentationUnit(bytes);
  if (lines.length === 0) return { range, lines, indent: { indentation: '', unit } };
  const isOneLine = lines.length === 1 && !bytes.subarray(range.start, range.end).includes(10);
  if (!isOneLine) return spliceLines(bytes, range, lines, range.start);
  return { range, before: ' ', lines, after: ' ', indent: { indentation: '', unit, isFirstBare: true } };
}

/** Puts the new body on lines of its own, indented as the first line of the old body. */
function spliceLines(bytes: Buffer, range: SourceRange, lines: readonly string[], header: number): Splice {
  const ending = lineEndingOf(bytes);
  const unit = indentationUnit(bytes);
  const isClosingAlone =
    range.end > lineEnd(bytes, range.start) && isBlank(bytes, lineStart(bytes, range.end), range.end);
  const outer = indentationAt(bytes, isClosingAlone ? range.end : header);
  const first = firstCode(bytes, range, lineEnd(bytes, range.start));
  const indentation = first === undefined ? outer + unit : indentationAt(bytes, first);
  return {
    range,
    before: lines.length === 0 ? '' : ending,
    lines,
    indent: { indentation, unit },
    after: ending + outer,
  };
}

/** The first byte of code on the lines after the first one. */
function firstCode(bytes: Buffer, { end }: SourceRange, from: number): number | undefined {
  if (from >= end) return undefined;
  const at = bytes.toString('latin1', from, end).search(/\S/);
  return at === -1 ? undefined : from + at;
}

function spliceExpression(bytes: Buffer, symbol: CodeSymbol, range: SourceRange, lines: readonly string[]): Splice {
  if (lines.length === 0)
    throw new AppError('E_NOT_PARSED', `${fullName(symbol)} has an expression as its body: new_body must be one too`);
  const indentation = indentationAt(bytes, range.start);
  return { range, lines, indent: { indentation, unit: indentationUnit(bytes), isFirstBare: true } };
}

const docstring = /^\s*[rRuU]?(?:"|')/;

/** A docstring stays unless the new body begins with another one. */
function spliceBlock(bytes: Buffer, symbol: CodeSymbol, body: SourceRange, lines: readonly string[]): Splice {
  const unit = indentationUnit(bytes);
  const isOnHeader = lineStart(bytes, body.start) <= symbol.nameRange.start;
  const doc = symbol.docstringRange;
  const keepsDoc = doc !== undefined && !docstring.test(lines[0] ?? '');
  const header = indentationAt(bytes, symbol.declarationRange.start);
  const indentation = isOnHeader ? header + unit : indentationAt(bytes, body.start);
  if (keepsDoc && !isOnHeader) {
    const range = { start: doc.end, end: body.end };
    return { range, before: lines.length === 0 ? '' : lineEndingOf(bytes), lines, indent: { indentation, unit } };
  }
  const given = lines.length === 0 ? ['pass'] : lines;
  if (!isOnHeader || given.length === 1)
    return { range: body, lines: given, indent: { indentation, unit, isFirstBare: true } };
  const range = { start: symbol.signatureRange.end, end: body.end };
  return { range, before: lineEndingOf(bytes), lines: given, indent: { indentation, unit } };
}
