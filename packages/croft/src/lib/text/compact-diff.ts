/**
 * The diff that `edit` and `write` show in their answers. The history shows and merges changes with the package `diff`
 * (`core/history/trees/text-diff.ts`, `core/history/forks/merge-text.ts`) instead. Answers need what that package does
 * not do: a limit in steps instead of time, so that the same edit has the same answer on a busy machine; no splitting of
 * the megabytes before and after a change; and long lines cut around their change.
 */
import { cutText } from './cut-text.ts';

const maxTableCells = 250_000;
const chunkChars = 4096;
/** Characters shown of one line; a file may be a single line of a megabyte. */
const maxLineChars = 1000;
const charsBeforeChange = 200;
const noNewline = '\\ No newline at end of file';

/** A line with its ending, and whether it was kept, removed or added. */
interface Edit {
  sign: ' ' | '-' | '+';
  line: string;
}

/**
 * Returns the hunks of a unified diff without file header or final newline; '' for equal texts.
 *
 * Lines are shown without their `\r`, so a changed line ending looks like a line replaced by itself. Of a long line
 * only the part around its first change is shown. A large rewritten region with another number of lines becomes one
 * replaced block instead of being compared line by line.
 */
export function compactDiff(
  before: string,
  after: string,
  { context = 2, maxLines = 80 }: { context?: number; maxLines?: number } = {},
): string {
  if (before === after) return '';
  const prefix = commonPrefixLength(before, after);
  const suffix = commonSuffixLength(before, after, prefix);
  const lead = lastLines(before.slice(0, prefix), context);
  const edits = [
    ...lead.map(toUnchanged),
    ...toEdits(
      splitLines(before.slice(prefix, before.length - suffix)),
      splitLines(after.slice(prefix, after.length - suffix)),
    ),
    ...firstLines(before.slice(before.length - suffix), context).map(toUnchanged),
  ];
  const rows = toHunkRows(edits, countNewlines(before, prefix) - lead.length, context);
  const shown = rows.slice(0, maxLines).map((row) => row.replace(/\r?\n?$/, ''));
  if (rows.length > maxLines) shown.push(`… (${rows.length - maxLines} more diff lines)`);
  return shown.join('\n');
}

/** Returns the number of equal characters at the start, up to the first line that differs. */
function commonPrefixLength(before: string, after: string): number {
  const length = countEqual(
    before.length,
    after.length,
    (from, to) => before.slice(from, to) === after.slice(from, to),
  );
  return length === 0 ? 0 : before.lastIndexOf('\n', length - 1) + 1;
}

function commonSuffixLength(before: string, after: string, prefix: number): number {
  const length = countEqual(
    before.length - prefix,
    after.length - prefix,
    (from, to) =>
      before.slice(before.length - to, before.length - from) === after.slice(after.length - to, after.length - from),
  );
  const start = before.length - length;
  if (isLineStart(before, start) && isLineStart(after, after.length - length)) return length;
  const newline = before.indexOf('\n', start);
  return newline < 0 ? 0 : before.length - newline - 1;
}

/** Compares slices in ever smaller steps, which is some fifty times faster than comparing characters. */
function countEqual(oldLength: number, newLength: number, isEqual: (from: number, to: number) => boolean): number {
  const limit = Math.min(oldLength, newLength);
  let length = 0;
  for (let step = chunkChars; step >= 1; step /= 4)
    while (length + step <= limit && isEqual(length, length + step)) length += step;
  return length;
}

function isLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n';
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function lastLines(text: string, count: number): string[] {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) start = start > 1 ? text.lastIndexOf('\n', start - 2) + 1 : 0;
  return splitLines(text.slice(start));
}

function firstLines(text: string, count: number): string[] {
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left--) end = text.indexOf('\n', end) + 1 || text.length;
  return splitLines(text.slice(0, end));
}

function countNewlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function toUnchanged(line: string): Edit {
  return { sign: ' ', line };
}

function toEdits(before: string[], after: string[]): Edit[] {
  const edits: Edit[] = [];
  let old = 0;
  let now = 0;
  for (const [nextOld, nextNow] of [...pairEqualLines(before, after), [before.length, after.length] as const]) {
    while (old < nextOld) edits.push({ sign: '-', line: before[old++] ?? '' });
    while (now < nextNow) edits.push({ sign: '+', line: after[now++] ?? '' });
    const line = before[old++];
    if (line !== undefined) edits.push(toUnchanged(line));
    now++;
  }
  return edits;
}

/** Returns the longest common subsequence as pairs of indexes; none if finding it would take too long. */
function pairEqualLines(before: string[], after: string[]): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  const cells = before.length * after.length;
  if (cells === 0) return pairs;
  if (cells > maxTableCells) return pairInPlace(before, after);
  // Lines are compared as numbers, because a long line would be compared again in every cell of the table.
  const ids = new Map([...before, ...after].map((line, index) => [line, index]));
  const oldIds = before.map((line) => ids.get(line));
  const newIds = after.map((line) => ids.get(line));
  const width = after.length + 1;
  const lengths = commonLengths(oldIds, newIds);
  for (let old = 0, now = 0; old < before.length && now < after.length; )
    if (oldIds[old] === newIds[now]) pairs.push([old++, now++]);
    else if ((lengths[(old + 1) * width + now] ?? 0) >= (lengths[old * width + now + 1] ?? 0)) old++;
    else now++;
  return pairs;
}

/** Edits such as a rename change lines without adding any. Returns the lines that are equal at the same number. */
function pairInPlace(before: string[], after: string[]): (readonly [number, number])[] {
  if (before.length !== after.length) return [];
  return before.flatMap((line, index) => (line === after[index] ? [[index, index] as const] : []));
}

/** Returns a table with a row per old and a column per new line: the length of the common subsequence from there on. */
function commonLengths(oldIds: unknown[], newIds: unknown[]): Uint16Array {
  const width = newIds.length + 1;
  const lengths = new Uint16Array((oldIds.length + 1) * width);
  for (let old = oldIds.length - 1; old >= 0; old--)
    for (let now = newIds.length - 1; now >= 0; now--) {
      const cell = old * width + now;
      lengths[cell] =
        oldIds[old] === newIds[now]
          ? (lengths[cell + width + 1] ?? 0) + 1
          : Math.max(lengths[cell + width] ?? 0, lengths[cell + 1] ?? 0);
    }
  return lengths;
}

/** `linesAbove` is the number of equal lines before the first edit. */
function toHunkRows(edits: Edit[], linesAbove: number, context: number): string[] {
  const rows: string[] = [];
  let at = 0;
  let old = linesAbove;
  let now = linesAbove;
  for (const { start, end } of findHunks(edits, context)) {
    const hunk = edits.slice(start, end);
    const oldCount = hunk.filter(({ sign }) => sign !== '+').length;
    const newCount = hunk.filter(({ sign }) => sign !== '-').length;
    old += start - at;
    now += start - at;
    rows.push(`@@ -${toRange(old, oldCount)} +${toRange(now, newCount)} @@`);
    for (const [index, { sign, line }] of hunk.entries()) {
      rows.push(sign + cutAround(line, counterpart(hunk, index)));
      if (!line.endsWith('\n')) rows.push(noNewline);
    }
    old += oldCount;
    now += newCount;
    at = end;
  }
  return rows;
}

/** Returns the other version of a changed line: the line at the same position in the block of the other sign. */
function counterpart(hunk: Edit[], index: number): string {
  const { sign, line = '' } = hunk[index] ?? {};
  if (sign === ' ' || line.length <= maxLineChars) return '';
  const start = hunk.findLastIndex((edit, at) => at < index && edit.sign !== sign) + 1;
  if (sign === '-') {
    const added = hunk.findIndex((edit, at) => at > index && edit.sign !== '-');
    return added < 0 ? '' : lineIf('+', hunk[added + index - start]);
  }
  const removed = hunk.findLastIndex((edit, at) => at < start && edit.sign !== '-') + 1;
  return removed + index - start < start ? lineIf('-', hunk[removed + index - start]) : '';
}

function lineIf(wanted: Edit['sign'], edit: Edit | undefined): string {
  return edit?.sign === wanted ? edit.line : '';
}

function cutAround(line: string, other: string): string {
  if (line.length <= maxLineChars) return line;
  const same = countEqual(line.length, other.length, (from, to) => line.slice(from, to) === other.slice(from, to));
  const start = Math.max(0, Math.min(same - charsBeforeChange, line.length - maxLineChars));
  const shown = cutText(line, maxLineChars, start).toWellFormed();
  const rest = line.length - start - shown.length;
  const before = start > 0 ? `(${start} characters) …` : '';
  return before + (rest > 0 ? `${shown}… (${rest} characters)${line.endsWith('\n') ? '\n' : ''}` : shown);
}

function findHunks(edits: Edit[], context: number): { start: number; end: number }[] {
  const hunks: { start: number; end: number }[] = [];
  for (const [index, { sign }] of edits.entries()) {
    if (sign === ' ') continue;
    const last = hunks.at(-1);
    const end = Math.min(edits.length, index + context + 1);
    if (last && index - context <= last.end) last.end = end;
    else hunks.push({ start: Math.max(0, index - context), end });
  }
  return hunks;
}

/** Formats a range; an empty range has the number of the line above it. */
function toRange(linesAbove: number, count: number): string {
  return `${count > 0 ? linesAbove + 1 : linesAbove},${count}`;
}
