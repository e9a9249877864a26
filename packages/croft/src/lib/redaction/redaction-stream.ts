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

/**
 * The next characters of a text, and whether they are shown or replaced by a mark with this name. Without a name they
 * belong to a secret whose mark was already sent.
 */
export type StreamPart =
  | { readonly chars: number; readonly isShown: true }
  | { readonly chars: number; readonly isShown: false; readonly name?: string };

/** Decides over each character of a text that arrives in pieces. */
interface SecretStream {
  push(text: string): StreamPart[];
  /** Decides over the rest: no more text comes. */
  end(): StreamPart[];
}

/** Finds secrets for a stream. */
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
 * Creates a stream whose output is that of redacting the whole text at once, however the text is cut into pieces: see
 * `createSecretStream`.
 */
export function createRedactionStream(finder: () => SecretFinder): RedactionStream {
  const stream = createSecretStream(finder);
  let waiting = '';
  return {
    push(text) {
      waiting += text;
      return render(stream.push(text));
    },
    end: () => render(stream.end()),
  };

  function render(parts: readonly StreamPart[]): string {
    let [shown, at] = ['', 0];
    for (const part of parts) {
      shown += part.isShown ? waiting.slice(at, at + part.chars) : markOf(part.name);
      at += part.chars;
    }
    waiting = waiting.slice(at);
    return shown;
  }
}

export function markOf(name: string | undefined): string {
  return name === undefined ? '' : toMark(name);
}

/**
 * Creates a stream that finds the secrets of a text as if it had the whole text at once. Decides over whole lines, and
 * words of a line that holds no value so far. Waits with what may be the beginning of a secret: a part of a known value,
 * lines of a private key, an unfinished line. What is too long to wait for is shown only if it is no part of a secret;
 * otherwise a mark replaces it.
 */
export function createSecretStream(finder: () => SecretFinder): SecretStream {
  let [context, held] = ['', ''];
  /** Set while the rest of a redacted part is dropped: matches where it ends. */
  let skipTo: RegExp | undefined;
  const whole = () => context + held;
  const spansIn = (completion: string) => joinSpans(finder().find(whole() + completion));

  return {
    push(text, parts: StreamPart[] = []) {
      held += text;
      while (decideNext(parts));
      return parts;
    },
    end(parts: StreamPart[] = []) {
      if (skipTo && !skip(skipTo, parts)) parts.push({ chars: held.length, isShown: false });
      else pass(context.length + held.length, spansIn(''), parts);
      [context, held, skipTo] = ['', '', undefined];
      return parts;
    },
  };

  /** Decides over the next part. Returns false if the rest has to wait. */
  function decideNext(parts: StreamPart[]): boolean {
    if (skipTo && !skip(skipTo, parts)) return false;
    const spans = spansIn('');
    const end = context.length + held.length;
    const cut = safeCut(wholeWordsEnd(whole(), context.length), spans);
    if (end - cut > maxHeldChars) passPart(end, parts);
    else if (cut > context.length) pass(cut, spans, parts);
    else return false;
    return true;
  }

  /** Passes on as much of a very long line, or of an unfinished key, as is no part of a secret. */
  function passPart(end: number, parts: StreamPart[]): void {
    const spans = joinSpans(completions.flatMap(spansIn));
    const cut = safeCut(end - contextChars, spans);
    const isSafe = end - cut <= maxHeldChars && cut > context.length;
    pass(Math.max(cut, context.length), spans, parts);
    if (isSafe) return;
    const covering = spans.find((span) => span.start <= cut && span.end > cut);
    parts.push({ chars: 0, isShown: false, name: covering?.name ?? pemLabel });
    skipTo = covering ? /\s/ : keyEndPattern;
    context = '';
  }

  /** Drops the rest of a redacted part. Returns false if its end has not come yet. */
  function skip(to: RegExp, parts: StreamPart[]): boolean {
    const found = to.exec(held);
    const chars = found?.index ?? Math.max(0, held.length - overlapChars);
    held = held.slice(chars);
    parts.push({ chars, isShown: false });
    skipTo = found ? undefined : to;
    return found !== null;
  }

  /** Moves a cut before everything that begins before it and may end after it. */
  function safeCut(wanted: number, spans: readonly Span[]): number {
    const cut = Math.min(wanted, finder().openSecretStart(whole()), openKeyStart(whole()));
    const before = spans.reduceRight((at, { start, end }) => (start < at && end >= at ? start : at), cut);
    return Math.max(before, context.length);
  }

  /** Decides over the text up to `cut`, and forgets it but for the beginning of its line. */
  function pass(cut: number, spans: readonly Span[], parts: StreamPart[]): void {
    const text = whole();
    addParts(parts, { from: context.length, to: cut }, spans);
    [context, held] = [text.slice(contextStart(text, cut), cut), text.slice(cut)];
  }
}

/** Returns where the line begins that the text after `cut` continues, or the last part of a long one. */
function contextStart(text: string, cut: number): number {
  return Math.max(text.lastIndexOf('\n', cut - 1) + 1, cut - contextChars);
}

/** Returns the end of the last line, or of the last word of an unfinished line that holds no value so far. */
function wholeWordsEnd(text: string, from: number): number {
  const line = text.lastIndexOf('\n') + 1;
  const words = text.slice(line, text.lastIndexOf(' ') + 1);
  const isOpen = undecided.test(text.slice(line)) || mayBeKeyLine(words);
  return Math.max(isOpen ? line : line + words.length, from);
}

/** Adds the parts of a range of characters: marks for the spans, and what is between them. */
function addParts(parts: StreamPart[], { from, to }: { from: number; to: number }, spans: readonly Span[]): void {
  let done = from;
  for (const { start, end, name } of spans.filter((span) => span.end > from && span.start < to)) {
    if (start > done) parts.push({ chars: start - done, isShown: true });
    done = Math.max(start, done);
    const last = Math.max(done, Math.min(end, to));
    parts.push({ chars: last - done, isShown: false, name });
    done = last;
  }
  if (to > done) parts.push({ chars: to - done, isShown: true });
}
