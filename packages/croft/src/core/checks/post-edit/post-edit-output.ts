import { z } from 'zod';
import { FindingOutput } from '../lint/run-lint.ts';

/** Output fields that tools which change files add to their own. */
export const postEditOutput = {
  effects: z
    .object({
      lint: z.array(FindingOutput).optional().describe('Findings of the linter in the file now'),
      formatted: z.array(z.string()).optional().describe('Files that the formatter changed after that'),
    })
    .optional(),
};

export type PostEditOutput = NonNullable<z.output<typeof postEditOutput.effects>>;
