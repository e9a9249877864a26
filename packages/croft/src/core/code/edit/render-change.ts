import { lineEnd, lineNumber, lineStart } from '../source-lines.ts';
import type { ChangedSymbol } from './change-symbol.ts';

const maxLines = 80;

interface ChangedLines {
  /** First changed line, from 1. */
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** The changed lines as a diff of the region: `--- before`, `+++ after`, `@@ starting line N @@`. */
export function renderRegion(change: ChangedSymbol): { readonly line: number; readonly diff: string } {
  const { line, removed, added } = findChangedLines(change);
  const rows = [...removed.map((text) => `-${text}`), ...added.map((text) => `+${text}`)];
  return { line, diff: ['--- before', '+++ after', `@@ starting line ${line} @@`, ...cut(rows)].join('\n') };
}

/** The added lines of an insertion, each with a plus. */
export function renderInsertion(change: ChangedSymbol) {
  const { line, added } = findChangedLines(change);
  const first = added.findIndex((text) => text.trim() !== '');
  const shown = added.slice(Math.max(0, first)).map((text) => `+${text}`);
  return {
    line: line + Math.max(0, first),
    size: change.newRange.end - change.newRange.start,
    diff: cut(shown).join('\n'),
  };
}

function cut(rows: readonly string[]): readonly string[] {
  return rows.length <= maxLines ? rows : [...rows.slice(0, maxLines), `… (${rows.length - maxLines} more lines)`];
}

function findChangedLines({ before, bytes, oldRange, newRange }: ChangedSymbol): ChangedLines {
  const removed = linesOf(before, oldRange.start, oldRange.end);
  const added = linesOf(bytes, newRange.start, newRange.end);
  let [head, tail] = [0, 0];
  const least = Math.min(removed.length, added.length);
  while (head < least && removed[head] === added[head]) head++;
  while (tail < least - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++;
  return {
    line: lineNumber(bytes, newRange.start) + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail),
  };
}

/** All lines that a range touches, whole. */
function linesOf(bytes: Buffer, start: number, end: number): string[] {
  return bytes
    .toString('utf8', lineStart(bytes, start), lineEnd(bytes, end))
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
}
