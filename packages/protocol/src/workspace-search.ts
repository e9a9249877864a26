import { z } from 'zod';
import { must, mustBeOneOf } from './field-schemas.ts';

const flags = ['true', 'false'] as const;
const maxMatches = 500;
const range = must(`be an integer from 1 to ${maxMatches}`);

export const WorkspaceSearchQuery = z.object({
  /** A regular expression of ripgrep; with `literal`, a plain text. */
  pattern: z
    .string(must('be a non-empty string'))
    .min(1, must('be a non-empty string'))
    .max(1000, must('be at most 1000 characters long')),
  literal: z
    .enum(flags, mustBeOneOf(flags))
    .optional()
    .transform((text) => text === 'true'),
  ignoreCase: z
    .enum(flags, mustBeOneOf(flags))
    .optional()
    .transform((text) => text === 'true'),
  /** A folder, from the root. */
  path: z.string(must('be a string')).optional(),
  /** Only files of this pattern: `*.ts`. */
  glob: z.string(must('be a string')).max(1000, must('be at most 1000 characters long')).optional(),
  limit: z.coerce.number(range).int(range).min(1, range).max(maxMatches, range).prefault(100),
});

export const WorkspaceSearch = z.object({
  matches: z.array(z.object({ path: z.string(), line: z.int(), text: z.string() })),
  /** True if there are more matches than these: narrow the search. */
  isCut: z.boolean(),
});
export type WorkspaceSearch = z.output<typeof WorkspaceSearch>;
