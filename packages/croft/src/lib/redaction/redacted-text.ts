import { toMark } from './marks.ts';
import type { Span } from './spans.ts';

/**
 * A mark in a redacted text and the text that it replaced. A mark that was already in the original text stands for
 * itself.
 */
interface RedactionMark extends Span {
  readonly original: string;
}

/** A redacted text with its marks. */
export interface RedactedText {
  readonly text: string;
  readonly marks: readonly RedactionMark[];
}

/** Replaces `secrets`, which must be sorted and must not overlap, by marks. */
export function toRedactedText(
  text: string,
  secrets: readonly Span[],
  marksIn: (text: string) => Span[],
): RedactedText {
  const marks: RedactionMark[] = [];
  const parts: string[] = [];
  let [done, length] = [0, 0];
  const addText = (end: number) => {
    const plain = text.slice(done, end);
    for (const mark of marksIn(plain)) marks.push(moved(mark, length, plain.slice(mark.start, mark.end)));
    parts.push(plain);
    length += plain.length;
  };
  for (const { start, end, name } of secrets) {
    addText(start);
    const mark = toMark(name);
    marks.push({ start: length, end: length + mark.length, name, original: text.slice(start, end) });
    parts.push(mark);
    [done, length] = [end, length + mark.length];
  }
  addText(text.length);
  return { text: parts.join(''), marks };
}

function moved({ start, end, name }: Span, by: number, original: string): RedactionMark {
  return { start: start + by, end: end + by, name, original };
}
