import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Message = z.object({ message: z.string(), line: z.int().nullish(), identifier: z.string().nullish() });
const Report = z.object({
  totals: z.object({ errors: z.int(), file_errors: z.int() }),
  // PHP writes an empty map as a list.
  files: z.union([z.record(z.string(), z.object({ messages: z.array(Message) })), z.array(z.never())]),
  errors: z.array(z.string()),
});

export const phpstan = defineLinter({
  name: 'phpstan',
  scope: 'files',
  toArgv: (argv, files) =>
    withOptions(withoutOptions(withFiles(argv, files), ['--fix']), '--error-format=json', '--no-progress'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = Object.entries(report.files).flatMap(([path, { messages }]) =>
      messages.map(({ message, line, identifier }) => ({
        // An error in a trait is reported once for each class that uses the trait.
        file: toRelative(path.replace(/ \(in context of [^()]{1,500}\)$/, ''), output.directory),
        ...{ line: line ?? 1, column: 1, rule: identifier ?? '', message, severity: 'error' as const },
      })),
    );
    const { totals, errors } = report;
    return toLintReport(output, { findings, isClean: totals.errors + totals.file_errors === 0, trouble: errors[0] });
  },
});
