import { toPath } from '@croft/protocol';
import type { z } from 'zod';
import { invalid, mustBeModest } from './plain-json.ts';

/** A body that came over the wire, or its first problem in the words of the catalogue of messages. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  mustBeModest(body, 'Request body');
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [problem] = result.error.issues;
  throw invalid(problem?.message ?? 'Request body is not valid', toPath(problem?.path));
}
