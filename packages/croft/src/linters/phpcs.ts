import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Message = z.object({
  message: z.string(),
  source: z.string(),
  type: z.string(),
  line: z.int(),
  column: z.int(),
});
const Report = z.object({
  totals: z.object({ errors: z.int(), warnings: z.int() }),
  // PHP writes an empty map as a list.
  files: z.union([z.record(z.string(), z.object({ messages: z.array(Message) })), z.array(z.never())]),
});

/**
 * Version 3 exits with 2 if some findings can be fixed. Version 4 exits with 1 for those, 2 for others and 3 for both.
 */
const exitCodes = [0, 1, 2, 3];

export const phpcs = defineLinter({
  name: 'phpcs',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files), '--report=json', '-q'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const files = Object.entries(report.files);
    const findings = files.flatMap(([path, { messages }]) =>
      messages.map(({ source, type, ...said }) => ({
        file: toRelative(path, output.directory),
        ...{ ...said, rule: source, severity: toSeverity(type) },
      })),
    );
    const { errors, warnings } = report.totals;
    return toLintReport(output, {
      findings,
      isClean: errors + warnings === 0 && files.length > 0,
      exitCodes,
      isEmpty: files.length === 0,
    });
  },
});
