import { invalidArgument } from './invalid-argument.ts';

const maxDepth = 32;
const maxLength = 262_144;

export type ReadonlyJsonObject = Readonly<Record<string, unknown>>;

/** Throws for JSON that is too deep or too large to store, and for the key `__proto__`. */
export function mustBeSmallJson(value: unknown, what: string): void {
  visit(value, what, 0);
  const length = (JSON.stringify(value) ?? '').length;
  if (length > maxLength) {
    throw invalidArgument(`${what} is ${length} characters of JSON; at most ${maxLength} are kept`, what);
  }
}

export function isObject(value: unknown): value is ReadonlyJsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are the same JSON, regardless of key order. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(other));
}

function visit(value: unknown, what: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) throw invalidArgument(`${what} is nested more than ${maxDepth} levels deep`, what);
  if (Object.hasOwn(value, '__proto__')) throw invalidArgument(`${what} must not have a key named __proto__`, what);
  for (const inner of Object.values(value)) visit(inner, what, depth + 1);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const sorted = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, sortKeys(inner)]));
}
