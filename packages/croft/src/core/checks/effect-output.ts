import { z } from 'zod';
import { FindingOutput } from './run-lint.ts';

/** What tools that change files may have in their answers besides. */
export const effectOutput = {
  effects: z
    .object({
      lint: z.array(FindingOutput).optional().describe('What the linter says of the file now'),
      formatted: z.array(z.string()).optional().describe('Files that the formatter changed after that'),
    })
    .optional(),
};

export type EffectOutput = NonNullable<z.output<typeof effectOutput.effects>>;
