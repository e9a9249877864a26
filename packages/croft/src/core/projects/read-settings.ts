import type { z } from 'zod';

/** A file of settings as a value, or nothing if it is not that: whoever wrote it, detection goes on. */
export function readSettings<Schema extends z.ZodType>(
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
