/** A part of a text, from `start` up to but not including `end`, and its label. */
export interface Span {
  readonly start: number;
  end: number;
  readonly name: string;
}

/**
 * Adds a span that starts after the last one, or extends the last one if both overlap or are adjacent with the same
 * name.
 */
export function addSpan(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (last && isOneWith(last, span)) last.end = Math.max(last.end, span.end);
  else spans.push(span);
}

/** Replaces each span. Overlapping spans become one, with the name of the one that is first in the list. */
export function replaceSpans(text: string, spans: readonly Span[], toReplacement: (name: string) => string): string {
  if (spans.length === 0) return text;
  let replaced = '';
  let done = 0;
  for (const { start, end, name } of joinSpans(spans)) {
    replaced += text.slice(done, start) + toReplacement(name);
    done = end;
  }
  return replaced + text.slice(done);
}

/** Sorts spans and joins overlapping ones. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const ranked = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank);
  const joined: (Span & { rank: number })[] = [];
  for (const span of ranked) {
    const last = joined.at(-1);
    if (last && isOneWith(last, span)) joined[joined.length - 1] = join(last, span);
    else joined.push(span);
  }
  return joined;
}

/** Adjacent spans with the same name are one too. */
function isOneWith(last: Span, next: Span): boolean {
  return next.start < last.end || (next.start === last.end && next.name === last.name);
}

function join<Ranked extends Span & { rank: number }>(last: Ranked, next: Ranked): Ranked {
  const named = next.rank < last.rank ? next : last;
  return { ...named, start: last.start, end: Math.max(last.end, next.end) };
}
