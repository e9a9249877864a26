import { toMark } from './marks.ts';
import { keyEndPattern, mayBeKeyLine, openKeyStart, pemLabel } from './private-keys.ts';
import { joinSpans, type Span } from './spans.ts';

/** Redacts a text that arrives in pieces. */
interface RedactionStream {
  /** Returns what can be shown by now. The rest may be the beginning of a secret, and is held back. */
  push(text: string): string;
  /** Returns the rest: no more text comes. */
  end(): string;
}

/** What a stream needs to know of the secrets. */
export interface SecretFinder {
  find(text: string): Span[];
  /** Returns the earliest position from which the text is the beginning of a known secret, or its end. */
  openSecretStart(text: string): number;
}

/** A line, or a key without an end, that is longer than this is shown in parts, or redacted without its end. */
const maxHeldChars = 128 * 1024;
/** Text that was shown and still tells how the rest of its line is read. Longer than any name before a value. */
const contextChars = 1024;
/** Enough to recognise the last line of a key in two pieces. */
const overlapChars = 128;

/** Matches a part of a line in which a value, a URL or a key may have begun, which the rest of the line decides. */
const undecided = /[=:]|-----/;
/** Each completes a secret that is cut in its middle: a quoted value, and the first part of a JWT. */
const completions = ['', '"', "'", '`', '\\"', `.eyJ${'a'.repeat(20)}.${'a'.repeat(20)}`];

/**
 * Creates a stream whose output is that of redacting the whole text at once, however the text is cut into pieces. Passes
 * on whole lines, and words of a line that holds no value so far. Holds back what may be the beginning of a secret: a
 * part of a known value, lines of a private key, an unfinished line. What is too long to be held back is shown only if
 * it is no part of a secret; otherwise a mark replaces it.
 */
export function createRedactionStream(finder: () => SecretFinder): RedactionStream {
  let context = '';
  let held = '';
  /** Set while the rest of a redacted part is dropped: matches where it ends. */
  let skipTo: RegExp | undefined;
  const whole = () => context + held;
  const spansIn = (completion: string) => joinSpans(finder().find(whole() + completion));

  return {
    push(text) {
      held += text;
      let shown = '';
      for (let part = next(); part !== undefined; part = next()) shown += part;
      return shown;
    },
    end() {
      const rest = skipTo && !skip() ? '' : pass(context.length + held.length, spansIn(''));
      [context, held, skipTo] = ['', '', undefined];
      return rest;
    },
  };

  /** Returns the next part, or `undefined` if the rest has to wait. */
  function next(): string | undefined {
    if (skipTo && !skip()) return undefined;
    const spans = spansIn('');
    const end = context.length + held.length;
    const cut = safeCut(wholeWordsEnd(whole(), context.length), spans);
    if (end - cut <= maxHeldChars) return cut > context.length ? pass(cut, spans) : undefined;
    return passPart(end);
  }

  /** Passes on as much of a very long line, or of an unfinished key, as is no part of a secret. */
  function passPart(end: number): string {
    const spans = joinSpans(completions.flatMap(spansIn));
    const cut = safeCut(end - contextChars, spans);
    if (end - cut <= maxHeldChars && cut > context.length) return pass(cut, spans);
    const covering = spans.find((span) => span.start <= cut && span.end > cut);
    const shown = pass(Math.max(cut, context.length), spans) + toMark(covering?.name ?? pemLabel);
    skipTo = covering ? /\s/ : keyEndPattern;
    context = '';
    return shown;
  }

  /** Drops the rest of a redacted part. Returns false if its end has not come yet. */
  function skip(): boolean {
    const found = skipTo?.exec(held);
    held = found ? held.slice(found.index) : held.slice(-overlapChars);
    if (found) skipTo = undefined;
    return found !== null;
  }

  /** Moves a cut before everything that begins before it and may end after it. */
  function safeCut(wanted: number, spans: readonly Span[]): number {
    const cut = Math.min(wanted, finder().openSecretStart(whole()), openKeyStart(whole()));
    const before = spans.reduceRight((at, { start, end }) => (start < at && end >= at ? start : at), cut);
    return Math.max(before, context.length);
  }

  /** Returns the text up to `cut` with marks for the secrets, and forgets it but for the beginning of its line. */
  function pass(cut: number, spans: readonly Span[]): string {
    const text = whole();
    const shown = withMarks(text, { from: context.length, to: cut }, spans);
    const line = text.lastIndexOf('\n', cut - 1) + 1;
    [context, held] = [text.slice(Math.max(line, cut - contextChars), cut), text.slice(cut)];
    return shown;
  }
}

/** Returns the end of the last line, or of the last word of an unfinished line that holds no value so far. */
function wholeWordsEnd(text: string, from: number): number {
  const line = text.lastIndexOf('\n') + 1;
  const words = text.slice(line, text.lastIndexOf(' ') + 1);
  const isOpen = undecided.test(text.slice(line)) || mayBeKeyLine(words);
  return Math.max(isOpen ? line : line + words.length, from);
}

/** Returns a part of a text, with marks in place of the spans. */
function withMarks(text: string, { from, to }: { from: number; to: number }, spans: readonly Span[]): string {
  let [shown, done] = ['', from];
  for (const { start, end, name } of spans.filter((span) => span.end > from && span.start < to)) {
    shown += text.slice(done, Math.max(start, done)) + toMark(name);
    done = Math.max(done, Math.min(end, to));
  }
  return shown + text.slice(done, to);
}
