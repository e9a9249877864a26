import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Report = z.object({
  generalDiagnostics: z.array(
    z.object({
      file: z.string().default(''),
      severity: z.string(),
      message: z.string(),
      range: z.object({ start: z.object({ line: z.int(), character: z.int() }) }).optional(),
      rule: z.string().optional(),
    }),
  ),
  summary: z.object({ filesAnalyzed: z.int() }),
});

export const pyright = defineLinter({
  name: 'pyright',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files), '--outputjson'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = report.generalDiagnostics.map(({ file, severity, message, range, rule = '' }) => ({
      file: toRelative(file, output.directory),
      line: (range?.start.line ?? 0) + 1,
      column: (range?.start.character ?? 0) + 1,
      ...{ rule, message, severity: toSeverity(severity) },
    }));
    const isEmpty = report.summary.filesAnalyzed <= 0;
    return toLintReport(output, { findings, isClean: !isEmpty, isEmpty });
  },
});
