import { z } from 'zod';

/** A whole number that a model may get wrong: below one means the default, above the limit means the limit. */
export function count({ fallback, max = Number.MAX_SAFE_INTEGER }: { fallback: number; max?: number }) {
  return z
    .number()
    .optional()
    .transform((value) => (value === undefined || !(value >= 1) ? fallback : Math.min(Math.trunc(value), max)));
}

/** The same for a number that may be none. */
export function countFromZero({ max }: { max: number }) {
  return z.number().transform((value) => Math.min(Math.max(Math.trunc(value), 0), max));
}
