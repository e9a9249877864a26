import { AppError } from '@croft/protocol';
import type { z } from 'zod';

/** Parses data from outside by a schema. Throws one `E_INVALID_INPUT` that names every invalid argument. */
export function parseBySchema<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(toProblem);
  throw new AppError('E_INVALID_INPUT', problems.map(({ text }) => text).join('; '), {
    details: { arguments: problems.map(({ argument }) => argument) },
  });
}

function toProblem(issue: z.core.$ZodIssue) {
  const argument = issue.path.join('.') || 'input';
  return { argument, text: `${argument} ${toReason(issue)}` };
}

function toReason(issue: z.core.$ZodIssue): string {
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  const isEmpty = issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1;
  if (isMissing || isEmpty) return 'is required';
  return `is not valid: ${issue.message.replace(/^Invalid input: /, '')}`;
}
