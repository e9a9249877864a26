import { classEnd, createCharClass } from './char-class.ts';
import type { Span } from './spans.ts';

const isCredentialChar = createCharClass('A-Za-z0-9._~+/=-');
const isOpeningChar = createCharClass(' \t"\'`\\');
const maxOpeningChars = 8;
const basicLabel = 'basic-auth-header';
const bearerLabel = 'bearer-token';
export const authorizationLabels: readonly string[] = [basicLabel, bearerLabel];

/** Finds the credentials in the value of an Authorization header; `from` is the position after the colon. */
export function authorizationAt(text: string, from: number): Span | undefined {
  const opening = classEnd(text, from, isOpeningChar, from + maxOpeningChars);
  const [head, scheme = ''] = /^(basic|bearer|token|apikey)[ \t]{1,4}/i.exec(text.slice(opening, opening + 12)) ?? [];
  if (head === undefined) return undefined;
  const start = opening + head.length;
  const end = classEnd(text, start, isCredentialChar);
  return looksIssued(text.slice(start, end))
    ? { start, end, name: scheme.toLowerCase() === 'basic' ? basicLabel : bearerLabel }
    : undefined;
}

/** Tells a real credential from `<token>`, `YOUR_TOKEN_HERE` and ordinary words. */
function looksIssued(value: string): boolean {
  if (value.length < 8) return false;
  const hasLetter = /[A-Za-z]/.test(value);
  return (hasLetter && /\d/.test(value)) || /[a-z][A-Z]/.test(value) || /[A-Za-z]{20}/.test(value);
}
