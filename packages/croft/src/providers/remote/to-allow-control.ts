import type { Allowance } from '../../core/control-files/allowance.ts';

/** The names of an allowance, for the runner. Omitted when empty, because older runners do not know the field. */
export function toAllowControl({ names = [] }: Allowance = {}): { readonly allowControl?: readonly string[] } {
  return names.length > 0 ? { allowControl: [...new Set(names)] } : {};
}
