import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toRelative } from '../core/readers/read-output.ts';

const Report = z.object({
  issues: z.array(
    z.object({
      category: z.string().default(''),
      check: z.string(),
      filename: z.string().nullish(),
      line_no: z.int().nullish(),
      column: z.int().nullish(),
      message: z.string(),
    }),
  ),
});

/** Sums of what was found, by category; 128 and above are its own failures. */
const exitCodes = Array.from({ length: 128 }, (_, sum) => sum);

export const credo = defineLinter({
  name: 'credo',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files), '--format=json'),
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
    const findings = report.issues.map(({ category, check, filename, line_no, column, message }) => ({
      file: toRelative(filename ?? '', output.directory),
      ...{ line: line_no ?? 1, column: column ?? 1, rule: check, message },
      severity: category === 'warning' ? ('warning' as const) : ('info' as const),
    }));
    return toLintReport(output, { findings, isClean: true, exitCodes });
  },
});
