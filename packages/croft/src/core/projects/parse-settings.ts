import type { z } from 'zod';

/** Parses a settings file; `undefined` if it is invalid, so that detection goes on. */
export function parseSettings<Schema extends z.ZodType>(
  text: string | undefined,
  parse: (text: string) => unknown,
  schema: Schema,
): z.output<Schema> | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = schema.safeParse(parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
