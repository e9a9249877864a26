import { contextOf, type MarkContext } from './mark-context.ts';
import type { RedactedText } from './redacted-text.ts';
import type { Span } from './spans.ts';

/**
 * Replaces the marks in an edited text by the secrets that they stand for. `shown` is the redacted text that the author
 * of `text` saw; `marks` are the marks in `text`. A mark is identified by its line, by the lines around it, by the
 * words before it, or by its label if all marks of that label hide the same secret; otherwise by its position, if
 * everything between it and the start or end of the text is unchanged. Returns `undefined` if a mark may stand for
 * several secrets or for none: Croft never guesses a secret.
 */
export function restoreMarks(text: string, marks: readonly Span[], shown: RedactedText): string | undefined {
  const originals = findOriginals(text, marks, shown);
  const parts: string[] = [];
  let done = 0;
  for (const [index, { start, end }] of marks.entries()) {
    const original = originals[index];
    if (original === undefined) return undefined;
    parts.push(text.slice(done, start), original);
    done = end;
  }
  return parts.join('') + text.slice(done);
}

function findOriginals(text: string, marks: readonly Span[], shown: RedactedText): (string | undefined)[] {
  const contexts = marks.map((mark) => contextOf(text, mark));
  const known = indexByContext(shown);
  const wanted = Map.groupBy(contexts, ({ near }) => near);
  const byPosition = createPositionMatcher(text, marks, shown);
  return marks.map((mark, index) => {
    const context = contexts[index];
    return (context && findByContext(context, known, wanted)) ?? byPosition(mark, index);
  });
}

/** The secrets that the marks in one context hide, and the number of marks. */
interface Hidden {
  readonly originals: Set<string>;
  count: number;
}

function indexByContext({ text, marks }: RedactedText): Map<string, Hidden> {
  const found = new Map<string, Hidden>();
  for (const mark of marks) {
    const { line, near, words, label } = contextOf(text, mark);
    for (const key of [line, near, words, label].filter((one) => one !== undefined)) {
      const hidden = found.get(key) ?? { originals: new Set(), count: 0 };
      hidden.originals.add(mark.original);
      hidden.count += 1;
      found.set(key, hidden);
    }
  }
  return found;
}

function findByContext(
  { line, near, words, label }: MarkContext,
  known: ReadonlyMap<string, Hidden>,
  wanted: ReadonlyMap<string, readonly unknown[]>,
): string | undefined {
  const only = (key: string | undefined) => {
    const { originals } = (key !== undefined && known.get(key)) || { originals: new Set<string>() };
    return originals.size === 1 ? [...originals][0] : undefined;
  };
  // With more marks than before in equal surroundings, a new mark may stand for a different secret.
  const isAsOften = (wanted.get(near)?.length ?? 0) <= (known.get(near)?.count ?? 0);
  return only(line) ?? (isAsOften ? only(near) : undefined) ?? only(words) ?? only(label);
}

/**
 * Finds a secret by the index of the mark, if the number of marks is unchanged and everything from the mark to the
 * start or to the end of the text is unchanged.
 */
function createPositionMatcher(text: string, marks: readonly Span[], shown: RedactedText) {
  const { head, tail } = measureUnchanged(text, shown.text);
  const isSame = (mark: Span, seen: Span) => contextOf(text, mark).near === contextOf(shown.text, seen).near;
  return (mark: Span, index: number): string | undefined => {
    const seen = marks.length === shown.marks.length ? shown.marks[index] : undefined;
    const isInPlace = mark.end <= head || mark.start >= text.length - tail;
    return seen && isInPlace && isSame(mark, seen) ? seen.original : undefined;
  };
}

/** Counts the characters at the start and at the end that are equal in both texts. */
function measureUnchanged(one: string, other: string): { head: number; tail: number } {
  const limit = Math.min(one.length, other.length);
  let [head, tail] = [0, 0];
  while (head < limit && one.charCodeAt(head) === other.charCodeAt(head)) head += 1;
  while (tail < limit - head && one.charCodeAt(one.length - 1 - tail) === other.charCodeAt(other.length - 1 - tail))
    tail += 1;
  return { head, tail };
}
