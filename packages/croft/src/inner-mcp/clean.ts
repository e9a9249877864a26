import { cutText } from '../lib/text/cut-text.ts';
import { stripControl } from '../lib/text/strip-control.ts';

export type JsonObject = Record<string, unknown>;

/** Of what nobody may look through for ever. */
const maxDepth = 32;
const maxNodes = 20_000;

/** Zero-width and tag characters: what a person does not see, a model may read. */
const invisible = /[\p{Cf}\p{Co}\p{Cn}]/gu;

/** Words of a server about itself. */
export function cleanText(text: string, maxChars: number): string {
  return cutText(stripControl(text).replace(invisible, ''), maxChars);
}

/** The same value without control characters in any string. `undefined` for what is too deep or has too many parts. */
export function cleanObject(value: unknown, cleanString: (text: string) => string): JsonObject | undefined {
  let nodes = 0;
  try {
    return isObject(value) ? (visit(value, 0) as JsonObject) : undefined;
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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
