import type { Span } from './spans.ts';

const opening = '[REDACTED:';
const pattern = /\[REDACTED:([a-z0-9._-]{1,200})\]/g;

/**
 * Formats the mark that replaces a secret in output. The label is the name of the secret or of its shape, never an id.
 */
export function toMark(label: string): string {
  return `${opening}${label}]`;
}

/**
 * Finds the marks in a text whose label is known, in order. Other texts such as `[REDACTED]` or `[REDACTED:<name>]` in
 * a manual are no marks.
 */
export function findMarks(text: string, isLabel: (label: string) => boolean): Span[] {
  if (!text.includes(opening)) return [];
  const all = Array.from(text.matchAll(pattern), (match) => {
    const [mark, name = ''] = match;
    return { start: match.index, end: match.index + mark.length, name };
  });
  return all.filter(({ name }) => isLabel(name));
}
