import { toPath } from '@croft/protocol';
import type { z } from 'zod';
import { mustBeSmallJson } from './check-json.ts';
import { invalidArgument } from './invalid-argument.ts';

/** Parses a request body. Throws its first problem, in the words of the message catalogue. */
export function parseRequestBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  mustBeSmallJson(body, 'Request body');
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [problem] = result.error.issues;
  throw invalidArgument(problem?.message ?? 'Request body is not valid', toPath(problem?.path));
}
