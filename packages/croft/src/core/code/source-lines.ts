import { sha256 } from '../../lib/crypto/sha256.ts';
import type { SourceRange } from './code-symbol.ts';

const newline = 10;
const carriageReturn = 13;

/** Start of the line with the byte at `at`. The first line starts after a byte order mark. */
export function lineStart(bytes: Buffer, at: number): number {
  const found = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1);
  return found === -1 ? markLength(bytes) : found + 1;
}

/** End of the line with the byte at `at`, before its line ending. */
export function lineEnd(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(newline, at);
  if (found === -1) return bytes.length;
  return found > at && bytes[found - 1] === carriageReturn ? found - 1 : found;
}

/** Start of the next line; for the last line, the length of the file. */
export function nextLine(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(newline, at);
  return found === -1 ? bytes.length : found + 1;
}

/** The white space at the beginning of the line that has the byte at `at`. */
export function indentationAt(bytes: Buffer, at: number): string {
  const start = lineStart(bytes, at);
  return /^[ \t]*/.exec(bytes.toString('latin1', start, lineEnd(bytes, start)))?.[0] ?? '';
}

/** The line ending of the file: that of its first line. */
export function lineEndingOf(bytes: Buffer): '\n' | '\r\n' {
  const found = bytes.indexOf(newline);
  return found > 0 && bytes[found - 1] === carriageReturn ? '\r\n' : '\n';
}

/** One step of indentation in this file: a tab, or the smallest number of spaces that a line begins with. */
export function indentationUnit(bytes: Buffer): string {
  const lines = bytes
    .toString('latin1', 0, 100_000)
    .split('\n')
    .filter((line) => /^[ \t]+[^\s*]/.test(line));
  const tabs = lines.filter((line) => line.startsWith('\t')).length;
  if (tabs * 2 > lines.length) return '\t';
  const widths = lines.map((line) => line.search(/[^ ]/)).filter((width) => width > 1);
  return ' '.repeat(Math.min(8, widths.length === 0 ? 4 : Math.min(...widths)));
}

/** The number of the line that has the byte at `at`, from 1. */
export function lineNumber(bytes: Buffer, at: number): number {
  let line = 1;
  for (let found = bytes.indexOf(newline); found !== -1 && found < at; found = bytes.indexOf(newline, found + 1))
    line++;
  return line;
}

export function isBlank(bytes: Buffer, start: number, end: number): boolean {
  return bytes.toString('latin1', start, end).trim() === '';
}

/** Start of the blank lines directly before the line at `start`. */
export function blankLinesBefore(bytes: Buffer, start: number): number {
  let first = start;
  while (first > markLength(bytes)) {
    const previous = lineStart(bytes, first - 1);
    if (previous >= first || !isBlank(bytes, previous, first)) break;
    first = previous;
  }
  return first;
}

/** End of the blank lines that begin at `start`. */
export function blankLinesAfter(bytes: Buffer, start: number): number {
  let end = start;
  while (end < bytes.length && isBlank(bytes, end, nextLine(bytes, end))) end = nextLine(bytes, end);
  return end;
}

function markLength(bytes: Buffer): number {
  return bytes.length >= 3 && bytes.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0;
}

/** Names the bytes of a range by their hash. */
export function hashOf(bytes: Buffer, { start, end }: SourceRange): string {
  return sha256(bytes.subarray(start, end));
}
