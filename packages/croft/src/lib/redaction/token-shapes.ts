import { classEnd, createCharClass } from './char-class.ts';
import type { Span } from './spans.ts';

/** The shape of the tokens of one service. */
interface Shape {
  readonly name: string;
  /** The string to search for. Searching is fast for a string that begins with a rare letter. */
  readonly rare: string;
  /** How a token begins. `rare` starts `before` characters after the start of the token. */
  readonly head: RegExp;
  readonly before: number;
  /**
   * Returns where the token ends, or `undefined` if it is none. `body` is the position after the head, `end` the
   * position after the last character that any kind of token can have.
   */
  endOf(text: string, body: number, end: number): number | undefined;
  /**
   * Set if `endOf` reads everything up to `end`. One try per run of characters is then enough: a later start in the run
   * cannot match either.
   */
  readonly looksOnce?: true;
}

const isTokenChar = createCharClass('A-Za-z0-9_-');
const isWordChar = createCharClass('A-Za-z0-9_');
const isAlphanumeric = createCharClass('A-Za-z0-9');
const isCapitalOrDigit = createCharClass('A-Z0-9');
const hyphen = 0x2d;
const maxHeadChars = 12;

/** In order of precedence. */
const shapes: readonly Shape[] = [
  { name: 'aws-access-key', rare: 'AKIA', head: /^AKIA/, before: 0, endOf: awsKeyEnd },
  { name: 'aws-access-key', rare: 'ASIA', head: /^ASIA/, before: 0, endOf: awsKeyEnd },
  { name: 'github-fine-grained-pat', rare: '_pat_', head: /^github_pat_/, before: 6, endOf: atLeast(82, isWordChar) },
  { name: 'github-pat', rare: 'ghp_', head: /^ghp_/, before: 0, endOf: atLeast(36, isAlphanumeric) },
  { name: 'github-oauth', rare: 'gh', head: /^gh[ousr]_/, before: 0, endOf: atLeast(36, isAlphanumeric) },
  { name: 'anthropic-api-key', rare: 'k-ant-', head: /^sk-ant-/, before: 1, endOf: anthropicKeyEnd },
  { name: 'openai-api-key', rare: 'k-', head: /^sk-/, before: 1, endOf: openaiKeyEnd, looksOnce: true },
  { name: 'google-api-key', rare: 'AIza', head: /^AIza/, before: 0, endOf: googleKeyEnd },
  { name: 'slack-token', rare: 'xox', head: /^xox[abeprs]-/, before: 0, endOf: slackTokenEnd },
  { name: 'stripe-live-key', rare: '_live_', head: /^[sr]k_live_/, before: 2, endOf: atLeast(24, isAlphanumeric) },
  { name: 'jwt', rare: 'yJ', head: /^eyJ/, before: 1, endOf: jwtEnd, looksOnce: true },
];

export const tokenLabels: readonly string[] = shapes.map(({ name }) => name);

/** The tokens of known services, by their shape. */
export function findTokens(text: string, found: Span[]): void {
  for (const shape of shapes) findShape(text, shape, found);
}

function findShape(text: string, { name, rare, head, before, endOf, looksOnce }: Shape, found: Span[]): void {
  // The last run of token characters. Finding it again for each candidate would take quadratic time.
  let run = { end: 0, last: 0 };
  for (let at = text.indexOf(rare); at >= 0; at = text.indexOf(rare, at + 1)) {
    const start = at - before;
    const headChars = isWordStart(text, start) ? headLength(text, start, head) : 0;
    if (headChars === 0 || (looksOnce && start < run.end)) continue;
    if (start >= run.end) run = runFrom(text, start);
    const end = endOf(text, start + headChars, run.last);
    if (end !== undefined) found.push({ start, end, name });
    at = end ?? at;
  }
}

/** A word also starts after an escaped newline, whose `n` is not part of it. */
function isWordStart(text: string, start: number): boolean {
  if (start < 0) return false;
  return !isWordChar(text.charCodeAt(start - 1)) || /\\[nrt]$/.test(text.slice(Math.max(0, start - 2), start));
}

function headLength(text: string, start: number, head: RegExp): number {
  return head.exec(text.slice(start, start + maxHeadChars))?.[0].length ?? 0;
}

function runFrom(text: string, start: number): { end: number; last: number } {
  const end = classEnd(text, start, isTokenChar);
  return { end, last: withoutHyphens(text, start, end) };
}

function withoutHyphens(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && text.charCodeAt(last - 1) === hyphen) last--;
  return last;
}

function atLeast(minChars: number, isMember: (code: number) => boolean): Shape['endOf'] {
  return (text, body, end) => {
    const last = classEnd(text, body, isMember, end);
    return last - body >= minChars ? last : undefined;
  };
}

function awsKeyEnd(text: string, body: number, end: number): number | undefined {
  const last = classEnd(text, body, isCapitalOrDigit, Math.min(end, body + 17));
  return last === body + 16 && !isWordChar(text.charCodeAt(last)) ? last : undefined;
}

function googleKeyEnd(text: string, body: number, end: number): number | undefined {
  const last = body + 35;
  return last <= end && !isWordChar(text.charCodeAt(last)) ? last : undefined;
}

/** Requires a capital or digit, because class names of style sheets begin with `sk-` too. */
function anthropicKeyEnd(text: string, body: number, end: number): number | undefined {
  return end - body >= 20 && /[A-Z0-9]/.test(text.slice(body, Math.min(end, body + 100))) ? end : undefined;
}

function openaiKeyEnd(text: string, body: number, end: number): number | undefined {
  return end - body >= 20 && hasRandomPart(text, body, end) ? end : undefined;
}

/**
 * Tells whether a part between hyphens and underscores is too long for a word, or long and mixes letters and digits.
 */
function hasRandomPart(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const partEnd = classEnd(text, at, isAlphanumeric, end);
    if (partEnd - at >= 20 || (partEnd - at >= 16 && isMixed(text.slice(at, partEnd)))) return true;
    at = partEnd;
  }
  return false;
}

function isMixed(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text);
}

function slackTokenEnd(text: string, body: number, end: number): number | undefined {
  if (!/\d/.test(text.slice(body, Math.min(end, body + 100)))) return undefined;
  const classLast = classEnd(text, body, (code) => isAlphanumeric(code) || code === hyphen, end);
  const last = withoutHyphens(text, body, classLast);
  return last - body >= 10 ? last : undefined;
}

function jwtEnd(text: string, body: number, end: number): number | undefined {
  const payload = end + 1;
  if (end - body < 10 || text[end] !== '.' || !text.startsWith('eyJ', payload)) return undefined;
  const payloadEnd = classEnd(text, payload, isTokenChar);
  if (payloadEnd - payload < 13 || text[payloadEnd] !== '.') return undefined;
  const signature = payloadEnd + 1;
  const last = withoutHyphens(text, signature, classEnd(text, signature, isTokenChar));
  return last - signature >= 10 ? last : undefined;
}
