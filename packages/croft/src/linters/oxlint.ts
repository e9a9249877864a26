import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Span = z.object({ line: z.int().default(1), column: z.int().default(1) });
const Report = z.object({
  diagnostics: z.array(
    z.object({
      message: z.string(),
      code: z.string().nullish(),
      severity: z.string(),
      filename: z.string(),
      labels: z.array(z.object({ span: Span })).default([]),
    }),
  ),
  number_of_files: z.int(),
});

const fixing = ['--fix', '--fix-suggestions', '--fix-dangerously'];

export const oxlint = defineLinter({
  name: 'oxlint',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withoutOptions(withFiles(argv, files, ['.']), fixing), '--format=json'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = report.diagnostics.map(({ message, code, severity, filename, labels: [label] }) => ({
      file: toRelative(filename, output.directory),
      line: label?.span.line ?? 1,
      column: label?.span.column ?? 1,
      rule: code ?? '',
      message,
      severity: toSeverity(severity),
    }));
    const isEmpty = report.number_of_files <= 0;
    return toLintReport(output, { findings, isClean: !isEmpty, isEmpty });
  },
});
