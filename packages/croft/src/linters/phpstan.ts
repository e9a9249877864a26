import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toRelative } from '../core/readers/read-output.ts';

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
  toArgv: (argv, files) => withOptions(withFiles(argv, files), '--error-format=json', '--no-progress'),
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
    const findings = Object.entries(report.files).flatMap(([path, { messages }]) =>
      messages.map(({ message, line, identifier }) => ({
        // What a trait is at fault for is told once for each class that uses it.
        file: toRelative(path.replace(/ \(in context of [^()]{1,500}\)$/, ''), output.directory),
        ...{ line: line ?? 1, column: 1, rule: identifier ?? '', message, severity: 'error' as const },
      })),
    );
    const { totals, errors } = report;
    return toLintReport(output, { findings, isClean: totals.errors + totals.file_errors === 0, trouble: errors[0] });
  },
});
