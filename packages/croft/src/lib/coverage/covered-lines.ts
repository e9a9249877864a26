/** A range of a text and how often it ran. */
export interface CountedRange {
  readonly start: number;
  readonly end: number;
  readonly count: number;
}

/**
 * Returns the lines, counted from 1, of which some code ran. An inner range overrides the range around it. A line does
 * not count if only brackets ran on it, or words without effect such as the `export` before a function that was never
 * called.
 */
export function coveredLines(text: string, ranges: readonly CountedRange[]): number[] {
  const parts = rangesThatRan(ranges);
  const found: number[] = [];
  let at = 0;
  let start = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const end = start + line.length;
    while (at < parts.length && (parts[at]?.end ?? 0) <= start) at++;
    let ran = '';
    for (let next = at; (parts[next]?.start ?? end) < end; next++) ran += slice(text, parts[next], start, end);
    if (isCode(ran)) found.push(index + 1);
    start = end + 1;
  }
  return found;
}

interface CoveredRange {
  readonly start: number;
  readonly end: number;
}

function slice(text: string, part: CoveredRange | undefined, start: number, end: number): string {
  return part ? text.slice(Math.max(part.start, start), Math.min(part.end, end)) : '';
}

const idle = new Set(['export', 'default', 'async', 'static', 'function']);

/** Tells whether a text holds more than brackets, a comment, or words that have no effect alone. */
export function isCode(ran: string): boolean {
  if (/^\s*(?:\/\/|#!)/.test(ran)) return false;
  return ran.split(/[\s{}()[\];,]+/).some((word) => word !== '' && !idle.has(word));
}

/**
 * Returns the ranges that ran, in order and without overlaps. Outer ranges come first, and each inner range interrupts
 * the one around it.
 */
export function rangesThatRan(ranges: readonly CountedRange[]): CoveredRange[] {
  const sorted = [...ranges].sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: CoveredRange[] = [];
  const open: CountedRange[] = [];
  let at = 0;
  const advance = (to: number): void => {
    const inner = open.at(-1);
    if (inner && inner.count > 0 && to > at) parts.push({ start: at, end: to });
    at = Math.max(at, to);
  };
  const closeUntil = (position: number): void => {
    for (let inner = open.at(-1); inner && inner.end <= position; inner = open.at(-1)) {
      advance(inner.end);
      open.pop();
    }
  };
  for (const range of sorted) {
    closeUntil(range.start);
    advance(range.start);
    open.push(range);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return parts;
}
