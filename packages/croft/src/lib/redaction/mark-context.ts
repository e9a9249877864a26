import type { Span } from './spans.ts';

/** Characters around a mark that identify it. Limited, because a line may be as long as its file. */
const contextChars = 200;

/** Keys by which a mark is recognised after its text was edited. */
export interface MarkContext {
  /** The rest of its line; `undefined` if the mark is alone on its line. */
  readonly line: string | undefined;
  /** The line with the lines above and below. */
  readonly near: string;
  /** The text before the mark on its line; `undefined` if there is none. */
  readonly words: string | undefined;
  readonly label: string;
}

export function contextOf(text: string, mark: Span): MarkContext {
  const { before, after, start, end } = lineOf(text, mark.start, mark.end);
  const above = start === 0 ? '' : lineOf(text, start - 1, start - 1).before;
  const below = end === text.length ? '' : lineOf(text, end + 1, end + 1).after;
  const toKey = (kind: string, ...parts: string[]) => JSON.stringify([kind, mark.name, ...parts]);
  return {
    line: `${before}${after}`.trim() === '' ? undefined : toKey('line', before, after),
    near: toKey('near', before, after, above, below),
    words: before.trim() === '' ? undefined : toKey('words', before),
    label: toKey('label'),
  };
}

/**
 * Returns the text before and after a position on its line. `start` and `end` are the bounds of the line, cut if it is
 * long. Ignores `\r`, so that both line endings give the same keys.
 */
function lineOf(text: string, from: number, to: number) {
  const first = Math.max(0, from - contextChars);
  const start = first + text.slice(first, from).lastIndexOf('\n') + 1;
  const rest = text.slice(to, to + contextChars);
  const newline = rest.indexOf('\n');
  const end = to + (newline === -1 ? rest.length : newline);
  const plain = (part: string) => part.replaceAll('\r', '');
  return { start, end, before: plain(text.slice(start, from)), after: plain(text.slice(to, end)) };
}
