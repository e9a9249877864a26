import { cutText } from '../lib/text/cut-text.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';

export type JsonRecord = Record<string, unknown>;

/** Limits on the values that are walked, because a hostile server chooses them. */
const maxDepth = 32;
const maxNodes = 20_000;

/** Zero-width and tag characters. A person does not see them, but a model may read them. */
const invisible = /[\p{Cf}\p{Co}\p{Cn}]/gu;

/**
 * Cleans a text that a server writes about itself: no control characters, no invisible characters, at most `maxChars`.
 */
export function cleanText(text: string, maxChars: number): string {
  return cutText(stripControlSequences(text).replace(invisible, ''), maxChars);
}

/**
 * Returns a copy of the value with every string cleaned. Returns `undefined` if the value is nested too deeply or has
 * too many parts.
 */
export function cleanObject(value: unknown, cleanString: (text: string) => string): JsonRecord | undefined {
  let nodes = 0;
  try {
    return isObject(value) ? (visit(value, 0) as JsonRecord) : undefined;
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }

  function visit(inner: unknown, depth: number): unknown {
    nodes += 1;
    if (depth > maxDepth || nodes > maxNodes) throw new RangeError('too much');
    if (typeof inner === 'string') return cleanString(inner);
    if (Array.isArray(inner)) return inner.map((item) => visit(item, depth + 1));
    if (!isObject(inner)) return inner;
    const entries = Object.entries(inner).filter(([key]) => key !== '__proto__');
    return Object.fromEntries(entries.map(([key, item]) => [cleanString(key), visit(item, depth + 1)]));
  }
}

export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
