/** A part of a text, from `start` to before `end`, and what it is. */
export interface Span {
  readonly start: number;
  end: number;
  readonly name: string;
}

/** Adds a span that starts after the last one, or makes that longer if they overlap or are pieces of one thing. */
export function addSpan(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (last && isOneWith(last, span)) last.end = Math.max(last.end, span.end);
  else spans.push(span);
}

/** Replaces each span; spans that overlap become one, under the name of the one that is first in the list. */
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

function joinSpans(spans: readonly Span[]): Span[] {
  const ranked = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank);
  const joined: (Span & { rank: number })[] = [];
  for (const span of ranked) {
    const last = joined.at(-1);
    if (last && isOneWith(last, span)) joined[joined.length - 1] = join(last, span);
    else joined.push(span);
  }
  return joined;
}

/** Pieces of one thing that touch are one as well. */
function isOneWith(last: Span, next: Span): boolean {
  return next.start < last.end || (next.start === last.end && next.name === last.name);
}

function join<Ranked extends Span & { rank: number }>(last: Ranked, next: Ranked): Ranked {
  const named = next.rank < last.rank ? next : last;
  return { ...named, start: last.start, end: Math.max(last.end, next.end) };
}
