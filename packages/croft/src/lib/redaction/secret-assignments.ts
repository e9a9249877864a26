import { authorizationAt } from './authorization-header.ts';
import { classEnd, createCharClass } from './char-class.ts';
import { measureRandomness } from './measure-randomness.ts';
import { passwordLineAt } from './password-lines.ts';
import type { Span } from './spans.ts';

interface Value {
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

const maxNameChars = 40;
const maxSpaces = 8;
/** Characters of a value that are judged; a secret value is then redacted to its end. */
const maxJudgedChars = 40;

const isBlank = createCharClass(' \t');
const isNameChar = createCharClass('A-Za-z0-9_.-');
const isQuote = createCharClass('"\'`');
const isBareChar = createCharClass('!-~', ' "\'`\\,;&|)]}>');
const backslash = 0x5c;
const colon = 0x3a;
const equals = 0x3d;
const closingBracket = 0x5d;

export const assignmentLabel = 'secret-env-assignment';
const secretName =
  /(?:passw(?:or)?d|passphrase|(?:^|[_.-])(?:pass|pwd)|secret|token|(?:api|access|account|auth|encryption|master|private|secret|shared|signing)[_.-]?key|credentials?)$/i;
/** Tokens for pagination are not secret: a client must send their value back. */
const publicName = /(?:page|next|continuation|cursor|sync)[_.-]?token$/i;
/** The last two letters of all these names and of `authorization`: they rule out most names quickly. */
const lastLetters = new Set(
  ['rd', 'wd', 'se', 'ss', 'et', 'en', 'ey', 'al', 'ls', 'on'].map((pair) => toPair(pair, 1)),
);

/** Matches code, a template or a path rather than a value. */
const codeInBare = /[([{<$*]|^[./~%@!]|:\/\/|=[^=]/;
const codeInQuotes = /\s|[$%{][{(]|^\[REDACTED|^\$|<[^>]*>|:\/\/|^\.{0,2}\//;
const constantName = /^[A-Z0-9]+(?:_[A-Z0-9]+)+$/;

/**
 * Finds values assigned to names that sound secret, in settings files, programs, JSON, YAML or headers, if the values
 * look generated; and passwords that people chose, where they cannot be code.
 */
export function findAssignments(text: string, found: Span[]): void {
  for (const sign of ['=', ':']) {
    let done = 0;
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const span = hasSecretName(text, at) && at >= done ? secretAt(text, at) : undefined;
      if (!span) continue;
      found.push(span);
      done = span.end;
    }
  }
}

/** Quick test of the last two letters of the name. */
function hasSecretName(text: string, sign: number): boolean {
  const end = nameEnd(text, sign);
  return end >= 3 && lastLetters.has(toPair(text, end - 1));
}

function secretAt(text: string, sign: number): Span | undefined {
  const name = nameAt(text, nameEnd(text, sign));
  if (/authorization$/i.test(name)) return authorizationAt(text, sign + 1);
  if (!secretName.test(name) || publicName.test(name) || !isPlainSign(text, sign)) return undefined;
  const line = passwordLineAt(text, sign, name, assignmentLabel);
  if (line) return line;
  const value = valueAt(text, sign + 1);
  if (!value || !isSecret(text, sign, name, value)) return undefined;
  const end = value.isQuoted ? value.end : classEnd(text, value.end, isBareChar);
  return { start: value.start, end, name: assignmentLabel };
}

/** Returns the end of the name, before spaces, a closing quote and the colon of `:=`. */
function nameEnd(text: string, sign: number): number {
  let at = sign;
  if (text.charCodeAt(sign) === equals && text.charCodeAt(at - 1) === colon) at--;
  const limit = Math.max(0, at - maxSpaces);
  while (at > limit && isBlank(text.charCodeAt(at - 1))) at--;
  if (text.charCodeAt(at - 1) === closingBracket) at--;
  if (isQuote(text.charCodeAt(at - 1))) at--;
  while (at > limit && text.charCodeAt(at - 1) === backslash) at--;
  return at;
}

function nameAt(text: string, end: number): string {
  const limit = Math.max(0, end - maxNameChars);
  let start = end;
  while (start > limit && isNameChar(text.charCodeAt(start - 1))) start--;
  return text.slice(start, end);
}

/** Tells an assignment from a comparison, an arrow or a path: `==`, `=>`, `=~`, `::`. */
function isPlainSign(text: string, sign: number): boolean {
  const next = text[sign + 1] ?? '';
  return text[sign] === '=' ? !'=>~'.includes(next) : !':='.includes(next);
}

function valueAt(text: string, from: number): Value | undefined {
  const start = classEnd(text, from, isBlank, from + maxSpaces);
  const opening = classEnd(text, start, (code) => code === backslash, start + 2);
  if (isQuote(text.charCodeAt(opening))) return quotedAt(text, opening);
  const end = classEnd(text, start, isBareChar, Math.min(text.length, start + maxJudgedChars));
  return { start, end, isQuoted: false };
}

/** Reads to the same quote. In a string within a string, both quotes have a backslash before them. */
function quotedAt(text: string, opening: number): Value | undefined {
  const start = opening + 1;
  const quote = text.charCodeAt(opening);
  const isNested = text.charCodeAt(opening - 1) === backslash;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isEscape = code === backslash && !(isNested && text.charCodeAt(at + 1) === quote);
    if (code === quote || (code === backslash && !isEscape)) return { start, end: at, isQuoted: true };
    if (code <= 0x20) return undefined;
    if (isEscape) at++;
  }
  return undefined;
}

function isSecret(text: string, sign: number, name: string, { start, end, isQuoted }: Value): boolean {
  const value = text.slice(start, Math.min(end, start + maxJudgedChars));
  const isCode = isQuoted ? codeInQuotes : codeInBare;
  if (value.length < 8 || isCode.test(value)) return false;
  const isTight = isNameChar(text.charCodeAt(sign - 1)) && !isBlank(text.charCodeAt(sign + 1));
  const isSetting = isTight && text[sign] === '=' && !/[a-z]/.test(name) && !constantName.test(value);
  return isSetting ? hasDigitAndLetter(value) : looksGenerated(value, isQuoted || isTight);
}

/** Stricter for a bare word after a space, which may be a name in a program. */
function looksGenerated(value: string, isValue: boolean): boolean {
  const { changes, changesPerChar } = measureRandomness(value);
  if (value.length < 12 || !hasDigitAndLetter(value)) return false;
  return isValue ? changes >= 3 && changesPerChar >= 0.22 : changes >= 4 && changesPerChar >= 0.27;
}

function hasDigitAndLetter(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Encodes two letters as a number, ignoring case. */
function toPair(text: string, last: number): number {
  return ((text.charCodeAt(last - 1) & 0x1f) << 5) | (text.charCodeAt(last) & 0x1f);
}
