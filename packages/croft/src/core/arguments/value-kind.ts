import type { z } from 'zod';

/** The part of a schema's type that affects how a value may be written. */
export type ValueKind =
  | { readonly type: 'number' | 'boolean' | 'other' }
  | { readonly type: 'list'; readonly of: ValueKind }
  | { readonly type: 'object'; readonly kinds: Kinds };

export type Kinds = ReadonlyMap<string, ValueKind>;

const numeral = /^\s*-?\d+(?:\.\d+)?\s*$/;
const truths: Readonly<Record<string, boolean>> = { true: true, false: false };

export function kindsOf(schema: z.ZodObject): Kinds {
  return new Map(Object.entries(schema.shape).map(([name, value]) => [name, kindOf(value)]));
}

/** Converts text to a number or a boolean where the schema asks for one: models write `"10"` and `"true"`. */
export function readPlain(kind: ValueKind, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (kind.type === 'number' && numeral.test(value)) return Number(value);
  if (kind.type === 'boolean') return truths[value.trim().toLowerCase()] ?? value;
  return value;
}

function kindOf(schema: z.core.$ZodType): ValueKind {
  const { def } = schema._zod as unknown as { readonly def: Definition };
  const inner = def.innerType ?? def.in;
  if (inner) return kindOf(inner);
  if (def.type === 'array' && def.element) return { type: 'list', of: kindOf(def.element) };
  if (def.type === 'object') return { type: 'object', kinds: kindsOf(schema as z.ZodObject) };
  return { type: def.type === 'number' || def.type === 'boolean' ? def.type : 'other' };
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
