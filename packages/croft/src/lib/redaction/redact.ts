import { createPrefixFinder } from './find-prefixes.ts';
import { createStringFinder } from './find-strings.ts';
import { findMarks, toMark } from './marks.ts';
import { findPrivateKeys, privateKeyLabel } from './private-keys.ts';
import { type RedactedText, toRedactedText } from './redacted-text.ts';
import type { SecretFinder } from './redaction-stream.ts';
import { findAssignments } from './secret-assignments.ts';
import { minSecretChars, toSearchStrings } from './secret-forms.ts';
import { shapeLabels } from './shape-labels.ts';
import { addSpan, joinSpans, replaceSpans, type Span } from './spans.ts';
import { findTokens } from './token-shapes.ts';
import { findUrlCredentials } from './url-credentials.ts';

/** With this many strings or more, all of them are first checked together. */
const manyItems = 16;

export type Redact = (text: string) => string;

/**
 * Creates a function that replaces secrets in a text by `[REDACTED:<name>]`, in linear time for any text.
 *
 * Secrets are: the values in `secrets` (a map, or pairs of name and value), also in base64, URL-encoded or JSON-escaped
 * form; tokens of known services, private keys, and passwords in URLs and Authorization headers, recognised by their
 * shape; and values assigned to a name such as `DB_PASSWORD` if they look generated. Source code stays unchanged.
 * Values of less than six characters are not searched for, because ordinary words contain them.
 */
export function createRedactor(secrets: Iterable<readonly [name: string, value: string]>): Redact {
  return createSecretMarker(secrets).redact;
}

/** Replaces secrets by marks, and recognises its own marks. */
export interface SecretMarker {
  readonly redact: Redact;
  /** Returns the marks in a text whose labels this marker uses. */
  findMarks(text: string): Span[];
  /** Finds secrets in a text that arrives in pieces: see `createRedactionStream`. */
  readonly finder: SecretFinder;
  /** Redacts a text and records what each mark in the result stands for. */
  redactReversibly(text: string): RedactedText;
}

export function createSecretMarker(secrets: Iterable<readonly [name: string, value: string]>): SecretMarker {
  const [labels, names] = [new Set(shapeLabels), new Map<string, string>()];
  for (const [name, value] of secrets) {
    labels.add(name);
    for (const string of toSearchStrings(value)) if (!names.has(string)) names.set(string, name);
  }
  const findStrings = createStringFinder(names.keys());
  const marksIn = (text: string) => findMarks(text, (label) => labels.has(label));
  return {
    redact: (text) => replaceSpans(text, find(text), toMark),
    findMarks: marksIn,
    finder: { find, openSecretStart: createPrefixFinder(names.keys()) },
    redactReversibly: (text) => toRedactedText(text, joinSpans(find(text)), marksIn),
  };

  function find(text: string): Span[] {
    const found: Span[] = [];
    if (text.length < minSecretChars) return found;
    findStrings(text, (string, start) => {
      addSpan(found, { start, end: start + string.length, name: names.get(string) ?? '' });
    });
    findShapes(text, found);
    return found;
  }
}

function findShapes(text: string, found: Span[]): void {
  findTokens(text, found);
  findPrivateKeys(text, found);
  findUrlCredentials(text, found);
  findAssignments(text, found);
}

/** Redacts every string in arrays and plain objects, but not the keys. Returns the same value if nothing was secret. */
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
 * Checks all texts in one pass, which takes a fraction of the time. A secret in one text is also found in the joined
 * text, because no secret spans an empty line except a private key, and there a mark in one text may hide a key in
 * another.
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
