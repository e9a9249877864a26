import { classEnd, createCharClass } from './char-class.ts';
import type { Span } from './spans.ts';

const maxSpaces = 8;
/** Characters of a value that are judged, as for other assignments. */
const maxValueChars = 128;
const minValueChars = 6;

const isBlank = createCharClass(' \t');
const passwordName = /(?:passw(?:or)?d|passphrase|(?:^|[_.-])(?:pass|pwd))$/i;
const hash = 0x23;

/** Matches code rather than a value: a call, a template, a path, a tag or an alias. */
const code = /[([{<]|^[$./~%@!*&|>]|:\/\/|=[^=]|[,;:)\]}>]$|^\[REDACTED/;
/** Matches names of types such as `Sha256Digest`. */
const typeName = /^[A-Z][a-z]+\d+(?:[A-Z][a-z]*)+$/;
const format = /^(?:u?int|float|sha|md|base|utf|varchar|bytes)[-_]?\d+$/i;
const member = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;
const placeholder = /^(?:your|change|example|enter|insert|placeholder)[-_]/i;

/**
 * Finds a password at the end of its line, as in YAML settings: `password: hunter22 # of the test server`. People
 * choose such passwords, so they do not look generated. A word of letters alone is not redacted, because in most
 * programs it is a type.
 */
export function passwordLineAt(text: string, sign: number, name: string, label: string): Span | undefined {
  if (text[sign] !== ':' || !isBlank(text.charCodeAt(sign + 1)) || !passwordName.test(name)) return undefined;
  const from = classEnd(text, sign + 1, isBlank, sign + 1 + maxSpaces);
  const to = classEnd(text, from, (each) => each > 0x20, from + maxValueChars);
  if (!endsLine(text, to)) return undefined;
  const isQuoted = /^(["']).*\1$/.test(text.slice(from, to));
  const [start, end] = isQuoted ? [from + 1, to - 1] : [from, to];
  return isChosen(text.slice(start, end)) ? { start, end, name: label } : undefined;
}

/** Tells whether the line ends at `at`, apart from a comment. */
function endsLine(text: string, at: number): boolean {
  const next = classEnd(text, at, isBlank, at + maxSpaces);
  const isComment = next > at && text.charCodeAt(next) === hash;
  return next >= text.length || text[next] === '\n' || text[next] === '\r' || isComment;
}

function isChosen(value: string): boolean {
  if (value.length < minValueChars || !/[A-Za-z]/.test(value)) return false;
  if ([code, typeName, format, member, placeholder].some((other) => other.test(value))) return false;
  return /\d/.test(value) || /[!@#%^&+~?$]/.test(value) || /^\w+(?:-\w+){2,}$/.test(value);
}
