import { createStringFinder } from './redaction/find-strings.ts';
import { findPrivateKeys, privateKeyLabel } from './redaction/private-keys.ts';
import { findAssignments } from './redaction/secret-assignments.ts';
import { minSecretChars, toSearchStrings } from './redaction/secret-forms.ts';
import { addSpan, replaceSpans, type Span } from './redaction/spans.ts';
import { findTokens } from './redaction/token-shapes.ts';
import { findUrlCredentials } from './redaction/url-credentials.ts';

/** From so many on it is worth it to look at them together first. */
const manyItems = 16;

export type Redact = (text: string) => string;

/**
 * Replaces secrets in a text by `[REDACTED:<name>]`, in linear time whatever the text.
 *
 * Secrets are the values of `secrets` (a map, or pairs of name and value), also in base64, URL-encoded or JSON-escaped form; tokens of known services,
 * private keys, passwords in URLs and Authorization headers, by their shape; and what is assigned to a name such as
 * `DB_PASSWORD` if it looks like one that a generator made. Source code stays as it is. Values of less than six
 * characters are not searched: they would be found in ordinary words.
 */
export function createRedactor(secrets: Iterable<readonly [name: string, value: string]>): Redact {
  const names = new Map<string, string>();
  for (const [name, value] of secrets)
    for (const string of toSearchStrings(value)) if (!names.has(string)) names.set(string, name);
  const findStrings = createStringFinder(names.keys());

  return (text) => {
    if (text.length < minSecretChars) return text;
    const found: Span[] = [];
    findStrings(text, (string, start) => {
      addSpan(found, { start, end: start + string.length, name: names.get(string) ?? '' });
    });
    findShapes(text, found);
    return replaceSpans(text, found, (name) => `[REDACTED:${name}]`);
  };
}

function findShapes(text: string, found: Span[]): void {
  findTokens(text, found);
  findPrivateKeys(text, found);
  findUrlCredentials(text, found);
  findAssignments(text, found);
}

/** Redacts every string in arrays and plain objects, not their keys. The same value when nothing was secret. */
export function redactDeep<Value>(value: Value, redact: Redact): Value;
export function redactDeep(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return redactItems(value, redact);
  return isPlainObject(value) ? redactEntries(value, redact) : value;
}

function redactItems(items: readonly unknown[], redact: Redact): readonly unknown[] {
  if (items.length >= manyItems && items.every((item) => typeof item === 'string') && areClean(items, redact))
    return items;
  const redacted = items.map((item) => redactDeep(item, redact));
  return redacted.every((item, index) => Object.is(item, items[index])) ? items : redacted;
}

/**
 * By one look at all of them, which takes a fraction of the time. What is secret in one of them is so between empty
 * lines too: nothing goes on over those but a private key, of which a mark in one may hide that in another.
 */
function areClean(texts: readonly string[], redact: Redact): boolean {
  const joined = texts.join('\n\n');
  return !joined.includes(privateKeyLabel) && redact(joined) === joined;
}

function redactEntries(object: Readonly<Record<string, unknown>>, redact: Redact): object {
  const entries = Object.entries(object).map(([key, item]) => [key, redactDeep(item, redact)] as const);
  return entries.every(([key, item]) => Object.is(item, object[key])) ? object : Object.fromEntries(entries);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
