import type { Span } from './spans.ts';

interface Mark {
  readonly isBegin: boolean;
  readonly start: number;
  readonly end: number;
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly kind: 'full' | 'short' | 'head' | 'other';
}

export const pemLabel = 'pem-private-key';
/** Occurs in the first and last line of every PEM private key. */
export const privateKeyLabel = 'PRIVATE KEY';

/** Long enough for `-----BEGIN ` and a word or two, such as `RSA`, `OPENSSH` or `ENCRYPTED`. */
const maxHeadChars = 64;
/** More characters than the longest key in use. */
const maxKeyChars = 16_384;
const maxLineChars = 160;

/** Matches characters of code, which no key holds. */
const code = /[(){}[\];<>$`]/;

/** Matches the place where an unfinished key must have ended: text that cannot belong to a key. */
export const keyEndPattern = new RegExp(`(?<=-----END [A-Z ]{0,48}${privateKeyLabel}(?: BLOCK)?-----)|${code.source}`);

/**
 * Finds private keys in PEM, also inside quotes, comments or numbered lines, and key material of which the first or the
 * last line is cut off. Code that only mentions the BEGIN and END lines is left alone.
 */
export function findPrivateKeys(text: string, found: Span[]): void {
  const marks = findMarks(text);
  for (const [index, mark] of marks.entries()) {
    const previous = marks[index - 1];
    const next = marks[index + 1];
    if (mark.isBegin && next && isWholeKey(text, mark, next))
      found.push({ start: mark.start, end: next.end, name: pemLabel });
    else if (mark.isBegin) findMaterialAfter(text, mark, next?.start ?? text.length, found);
    else if (!previous?.isBegin) findMaterialBefore(text, mark, previous?.end ?? 0, found);
  }
}

function findMarks(text: string): Mark[] {
  const marks: Mark[] = [];
  for (
    let at = text.indexOf(privateKeyLabel);
    at >= 0;
    at = text.indexOf(privateKeyLabel, at + privateKeyLabel.length)
  ) {
    const labelEnd = at + privateKeyLabel.length;
    const [tail] = /^(?: BLOCK)?-----/.exec(text.slice(labelEnd, labelEnd + 11)) ?? [];
    if (tail === undefined) continue;
    const head = /-----(BEGIN|END) (?:[A-Z]{1,20} ){0,2}$/.exec(text.slice(Math.max(0, at - maxHeadChars), at));
    if (head) marks.push({ isBegin: head[1] === 'BEGIN', start: at - head[0].length, end: labelEnd + tail.length });
  }
  return marks;
}

/** Tells whether the text between BEGIN and END can be a key and holds no code. */
function isWholeKey(text: string, begin: Mark, end: Mark): boolean {
  const body = text.slice(begin.end, end.start);
  if (end.isBegin || code.test(body)) return false;
  return /[A-Za-z0-9+/]{16}/.test(body) || /^[\w+/=.\s\\]*$/.test(body);
}

function findMaterialAfter(text: string, { start, end }: Mark, limit: number, found: Span[]): void {
  const lines = toLines(text, end, Math.min(limit, end + maxKeyChars)).slice(1);
  const firstFull = lines.findIndex(({ kind }) => kind !== 'head');
  const last = lastOfMaterial(lines.slice(Math.max(0, firstFull)));
  if (last) found.push({ start, end: last.end, name: pemLabel });
}

/**
 * Finds key material before an END line without a BEGIN: its short last line, its full lines, and perhaps a cut one.
 */
function findMaterialBefore(text: string, { start, end }: Mark, limit: number, found: Span[]): void {
  const lines = toLines(text, Math.max(limit, start - maxKeyChars), start)
    .reverse()
    .slice(1);
  const first = lastOfMaterial(lines[0]?.kind === 'short' ? lines.slice(1) : lines);
  if (first) found.push({ start: first.start, end, name: pemLabel });
}

/** Returns the earliest position from which the text may be a private key that goes on after the text, or its end. */
export function openKeyStart(text: string): number {
  const last = findMarks(text).at(-1);
  if (last?.isBegin && mayGoOn(text.slice(last.end))) return last.start;
  const lines = toLines(text, Math.max(last?.end ?? 0, text.length - maxKeyChars), text.length).reverse();
  const [current, ...above] = lines;
  // An END line may follow, or the current line may become one.
  const starts = [materialStart(above), materialStart(lines), current?.kind === 'other' ? undefined : current?.start];
  return Math.min(...starts.map((start) => start ?? text.length));
}

/** Whether a line with this beginning may be a line of a key. */
export function mayBeKeyLine(beginning: string): boolean {
  return kindOf(beginning) !== 'other';
}

function mayGoOn(body: string): boolean {
  return body.length <= maxKeyChars || !code.test(body);
}

/** Takes lines from the last one on. They are key material if an END line follows. */
function materialStart(lines: readonly Line[]): number | undefined {
  const isShort = lines[0]?.kind === 'short';
  return (lastOfMaterial(isShort ? lines.slice(1) : lines) ?? (isShort ? lines[0] : undefined))?.start;
}

/** Returns the last line of key material: full lines from the first on, then at most one short line. */
function lastOfMaterial(lines: readonly Line[]): Line | undefined {
  const broken = lines.findIndex(({ kind }) => kind !== 'full');
  const count = broken < 0 ? lines.length : broken;
  return count > 0 && lines[count]?.kind === 'short' ? lines[count] : lines[count - 1];
}

/** Splits at newlines and at newlines that are escaped in a string. */
function toLines(text: string, from: number, to: number): Line[] {
  const part = text.slice(from, to);
  const lines: Line[] = [];
  let start = 0;
  for (const { 0: separator, index } of [...part.matchAll(/\r?\n|\\r\\n|\\n/g), { 0: '', index: part.length }]) {
    lines.push({ start: from + start, end: from + index, kind: kindOf(part.slice(start, index)) });
    start = index + separator.length;
  }
  return lines;
}

function kindOf(line: string): Line['kind'] {
  if (line.length > maxLineChars) return 'other';
  const bare = line.replace(/^[ \t]*(?:\d{1,7}[:\t→|-])?[ \t"'#*>+|]*/, '').replace(/[ \t"',+\\]+$/, '');
  if (/^[A-Za-z0-9+/]{40,80}={0,2}$/.test(bare)) return 'full';
  if (/^[A-Za-z0-9+/]{1,40}={0,2}$/.test(bare) && /[0-9+/=]|[a-z][A-Z]/.test(bare)) return 'short';
  return bare === '' || /^[A-Z][\w-]{1,30}: /.test(bare) ? 'head' : 'other';
}
