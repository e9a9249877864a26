import { createJsonSizes, endIndexWithin, type JsonSizes, startIndexWithin } from './json-size.ts';

/** Space for the mark in a text, and for a few commas and quotes. */
const markBytes = 80;

/**
 * Shrinks a value to `maxBytes` of JSON: small parts stay whole, and the others share the remaining space. A list keeps
 * its first items, a text its beginning and its end. A shortened object sets its `truncated`, if it has that field.
 * Keeps the shape, so that the value still matches its output schema, unless even the names of its parts do not fit.
 */
export function shrinkJson<Value>(value: Value, maxBytes: number): Value {
  return shrinkAny(value, maxBytes, createJsonSizes()) as Value;
}

function shrinkAny(value: unknown, maxBytes: number, sizeOf: JsonSizes): unknown {
  if (sizeOf(value) <= maxBytes) return value;
  if (typeof value === 'string') return shrinkText(value, maxBytes);
  if (Array.isArray(value)) return shrinkList(value, maxBytes, sizeOf);
  return typeof value === 'object' && value !== null ? shrinkObject(value, maxBytes, sizeOf) : value;
}

function shrinkText(text: string, maxBytes: number): string {
  const budget = maxBytes - markBytes;
  if (budget < markBytes) return '…';
  const end = endIndexWithin(text, 0, Math.floor((budget * 2) / 3));
  const start = startIndexWithin(text, Math.floor(budget / 3));
  return start <= end ? text : `${text.slice(0, end)}\n… (${start - end} characters left out) …\n${text.slice(start)}`;
}

/** A list of few large items, such as one per workspace, keeps a part of each; a longer list keeps its first items. */
const fewItems = 20;

function shrinkList(items: readonly unknown[], maxBytes: number, sizeOf: JsonSizes): unknown[] {
  const shared = items.length <= fewItems ? shareOut(items, maxBytes - 2 - items.length, sizeOf) : items;
  // An item that cannot be shrunk to its share takes the space of later items.
  return keepFirst(shared, (item) => sizeOf(item) + 1, maxBytes - 2);
}

function keepFirst<Item>(items: readonly Item[], bytesOf: (item: Item) => number, maxBytes: number): Item[] {
  let left = maxBytes;
  const end = items.findIndex((item) => {
    left -= bytesOf(item);
    return left < 0;
  });
  return end === -1 ? [...items] : items.slice(0, end);
}

function shrinkObject(object: object, maxBytes: number, sizeOf: JsonSizes): Record<string, unknown> {
  const all = Object.entries({ ...object, ...('truncated' in object && { truncated: true }) });
  const entries = keepFirst(all, ([name]) => sizeOf(name) + 2, maxBytes / 2);
  const nameBytes = entries.reduce((sum, [name]) => sum + sizeOf(name) + 2, 2);
  const values = shareOut(
    entries.map(([, value]) => value),
    maxBytes - nameBytes,
    sizeOf,
  );
  const cut = entries.map(([name], index) => [name, values[index]] as const);
  return Object.fromEntries(keepFirst(cut, ([name, value]) => sizeOf(name) + sizeOf(value) + 2, maxBytes - 2));
}

/** Returns small values unchanged and shrinks all others to one size. */
function shareOut(values: readonly unknown[], maxBytes: number, sizeOf: JsonSizes): unknown[] {
  const share = fairShare(values.map(sizeOf), maxBytes);
  return values.map((value) => shrinkAny(value, share, sizeOf));
}

/** Returns the largest size per value with which all fit, given that smaller values take less. */
function fairShare(sizes: readonly number[], total: number): number {
  let left = total;
  const rising = [...sizes].sort((a, b) => a - b);
  for (const [index, size] of rising.entries()) {
    const share = Math.floor(left / (rising.length - index));
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return total;
}
