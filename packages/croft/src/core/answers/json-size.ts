import { isHighSurrogate } from '../../lib/text/cut-text.ts';

/** Returns the size in bytes of a value as JSON, as it is sent to a client. */
export function jsonBytes(value: unknown): number {
  const written = JSON.stringify(value);
  return written === undefined ? 0 : Buffer.byteLength(written);
}

export type JsonSizes = (value: unknown) => number;

/** Measures a value and its parts. Each part is measured once. */
export function createJsonSizes(): JsonSizes {
  const known = new Map<unknown, number>();
  const sizeOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return known.get(value) ?? measureLeaf(value);
    const size = known.get(value) ?? (Array.isArray(value) ? sizeOfList(value) : sizeOfObject(value));
    known.set(value, size);
    return size;
  };

  function measureLeaf(value: unknown): number {
    const size = jsonBytes(value);
    // Measuring a short text is faster than a lookup.
    if (typeof value === 'string' && value.length > 1000) known.set(value, size);
    return size;
  }

  function sizeOfList(items: readonly unknown[]): number {
    const inner = items.reduce((sum: number, item) => sum + (sizeOf(item) || 'null'.length) + 1, 0);
    return inner + (items.length === 0 ? 2 : 1);
  }

  function sizeOfObject(object: object): number {
    if ('toJSON' in object) return jsonBytes(object);
    const sizes = Object.entries(object).map(([name, value]) => [jsonBytes(name), sizeOf(value)] as const);
    const written = sizes.filter(([, size]) => size > 0);
    const inner = written.reduce((sum, [name, size]) => sum + name + size + 2, 0);
    return inner + (written.length === 0 ? 2 : 1);
  }

  return sizeOf;
}

/**
 * Returns the end of the longest part from `start` whose JSON has at most `maxBytes`. Never splits a surrogate pair,
 * and includes at least one character.
 */
export function endIndexWithin(text: string, start: number, maxBytes: number): number {
  let end = Math.min(text.length, start + maxBytes);
  for (;;) {
    const bytes = jsonBytes(text.slice(start, end)) - 2;
    if (bytes <= maxBytes || end <= start + 1) break;
    end = start + Math.max(1, Math.floor(((end - start) * maxBytes * 0.98) / bytes));
  }
  return end < text.length && end > start + 1 && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

/**
 * Returns the start of the longest part at the end of a text whose JSON has at most `maxBytes`. Never splits a
 * surrogate pair.
 */
export function startIndexWithin(text: string, maxBytes: number): number {
  let length = Math.min(text.length, maxBytes);
  for (;;) {
    const bytes = jsonBytes(text.slice(text.length - length)) - 2;
    if (bytes <= maxBytes || length === 0) break;
    length = Math.floor((length * maxBytes * 0.98) / bytes);
  }
  const start = text.length - length;
  return start > 0 && start < text.length && isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
