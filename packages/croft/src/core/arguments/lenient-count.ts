import { z } from 'zod';

/**
 * Schema of a whole number that tolerates mistakes of models: below one means the default, above the limit the limit.
 */
export function lenientCount({ fallback, max = Number.MAX_SAFE_INTEGER }: { fallback: number; max?: number }) {
  return z
    .number()
    .optional()
    .transform((value) => (value === undefined || !(value >= 1) ? fallback : Math.min(Math.trunc(value), max)));
}

/** Schema of a required whole number that may be zero; otherwise as `lenientCount`. */
export function lenientCountFromZero({ max }: { max: number }) {
  return z.number().transform((value) => Math.min(Math.max(Math.trunc(value), 0), max));
}
