import { AppError } from '@croft/protocol';

/** More than any input of a tool needs. A deeper one was made to exhaust the stack. */
const maxDepth = 100;

/**
 * Serialises a value to JSON with exactly one spelling per value: keys in order of their code units, no white space.
 * Two values have the same text only if they are the same to a tool: text is never normalised, `1` is not `"1"`, and
 * `0` is not `-0`. A value that JSON would drop or change is refused, except a property that is `undefined`, which
 * counts as absent.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > maxDepth) throw new AppError('E_INVALID_INPUT', 'the input is nested too deeply');
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item, depth + 1)).join(',')}]`;
  if (isPlainObject(value)) return `{${toMembers(value, depth).join(',')}}`;
  throw new AppError('E_INVALID_INPUT', `the input contains a value that JSON cannot represent: ${describe(value)}`);
}

function toMembers(object: object, depth: number): string[] {
  return Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${JSON.stringify(key)}:${canonicalJson(value, depth + 1)}`);
}

/** Refuses a `Map` or a class, which would look like an object without properties. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : Object.prototype.toString.call(value).slice('[object '.length, -1);
}
