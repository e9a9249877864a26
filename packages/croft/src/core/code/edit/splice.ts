import type { ParsedFile, SourceRange } from '../code-symbol.ts';
import { lineEndingOf } from '../source-lines.ts';
import { type IndentOptions, indentLines, type LiteralLines } from './indent-text.ts';

/** New text for a range of bytes. Everything outside of the range stays byte by byte. */
export interface Splice {
  readonly range: SourceRange;
  /** Bytes before the lines, as they are. */
  readonly before?: string;
  readonly lines: readonly string[];
  readonly indent: IndentOptions;
  /** Bytes after the lines, as they are. */
  readonly after?: string;
}

interface SplicedFile {
  readonly bytes: Buffer;
  /** Range of the new bytes in the new file. */
  readonly range: SourceRange;
  /** Start of each line of the new text in the new file. */
  readonly lineStarts: readonly number[];
}

export function applySplice(bytes: Buffer, splice: Splice, literal: LiteralLines = new Set()): SplicedFile {
  const { range, before = '', after = '', lines, indent } = splice;
  const ending = lineEndingOf(bytes);
  const indented = indentLines(lines, indent, literal);
  const text = Buffer.from(before + indented.join(ending) + after);
  const lineStarts: number[] = [];
  let at = range.start + Buffer.byteLength(before);
  for (const line of indented) {
    lineStarts.push(at);
    at += Buffer.byteLength(line) + ending.length;
  }
  return {
    bytes: Buffer.concat([bytes.subarray(0, range.start), text, bytes.subarray(range.end)]),
    range: { start: range.start, end: range.start + text.length },
    lineStarts,
  };
}

/** Finds the lines of the new text that begin inside a string literal. */
export function findLiteralLines({ lineStarts }: SplicedFile, { literals }: ParsedFile): LiteralLines {
  const isInLiteral = (at: number) => literals.some(({ start, end }) => start < at && at < end);
  return new Set(lineStarts.flatMap((at, index) => (isInLiteral(at) ? [index] : [])));
}
