import type { z } from 'zod';
import { parseJson } from '../../lib/text/parse-json.ts';

/** The part of a schema's type that affects how a value may be written. */
export type ValueKind =
  | { readonly type: 'number' | 'boolean' | 'record' | 'other' }
  | { readonly type: 'list'; readonly of: ValueKind }
  | { readonly type: 'object'; readonly kinds: Kinds };

export type Kinds = ReadonlyMap<string, ValueKind>;

const numeral = /^\s*-?\d+(?:\.\d+)?\s*$/;
const truths: Readonly<Record<string, boolean>> = { true: true, false: false };

export function kindsOf(schema: z.ZodObject): Kinds {
  return new Map(Object.entries(schema.shape).map(([name, value]) => [name, kindOf(value)]));
}

/** Converts text to the type that the schema asks for: models write `"10"`, `"true"` and `"{\"a\": 1}"`. */
export function convertText(kind: ValueKind, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (kind.type === 'number' && numeral.test(value)) return Number(value);
  if (kind.type === 'boolean') return truths[value.trim().toLowerCase()] ?? value;
  return kind.type === 'record' ? readJson(value) : value;
}

/** Returns the text itself if it is not JSON. */
function readJson(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value;
}

function kindOf(schema: z.core.$ZodType): ValueKind {
  const { def } = schema._zod as unknown as { readonly def: Definition };
  const inner = def.innerType ?? def.in;
  if (inner) return kindOf(inner);
  if (def.type === 'array' && def.element) return { type: 'list', of: kindOf(def.element) };
  if (def.type === 'object') return { type: 'object', kinds: kindsOf(schema as z.ZodObject) };
  const isPlain = def.type === 'number' || def.type === 'boolean' || def.type === 'record';
  return { type: isPlain ? def.type : 'other' };
}

/**
 * The parts of a zod definition that lead to the type of a value: through defaults and transformations, and into lists.
 */
interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
}
