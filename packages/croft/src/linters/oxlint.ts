import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toSeverity } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

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

export const oxlint = defineLinter({
  name: 'oxlint',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files, ['.']), '--format=json'),
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
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
