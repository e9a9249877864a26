import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

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

/** Exit codes are sums of issue categories; 128 and above are credo's own failures. */
const exitCodes = Array.from({ length: 128 }, (_, sum) => sum);

export const credo = defineLinter({
  name: 'credo',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files), '--format=json'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = report.issues.map(({ category, check, filename, line_no, column, message }) => ({
      file: toRelative(filename ?? '', output.directory),
      ...{ line: line_no ?? 1, column: column ?? 1, rule: check, message },
      severity: category === 'warning' ? ('warning' as const) : ('info' as const),
    }));
    return toLintReport(output, { findings, isClean: true, exitCodes });
  },
});
