import { z } from 'zod';
import { CodeDiagnostic } from '../../code/ports/code-answers.ts';
import { FindingOutput } from '../lint/run-lint.ts';

/** Output fields that tools which change files add to their own. */
export const postEditOutput = {
  effects: z
    .object({
      lint: z.array(FindingOutput).optional().describe('Findings of the linter in the file now'),
      diagnostics: z
        .object({
          known: z.boolean().describe('False: the language server has not said everything yet'),
          new_errors: z.int(),
          errors: z.int().describe('All errors of the changed files'),
          items: z.array(CodeDiagnostic.extend({ path: z.string() })).describe('Only what is new'),
        })
        .optional(),
      formatted: z.array(z.string()).optional().describe('Files that the formatter changed after that'),
    })
    .optional(),
};

export type PostEditOutput = NonNullable<z.output<typeof postEditOutput.effects>>;
