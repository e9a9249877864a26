import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Messages = z.array(
  z.object({
    type: z.string(),
    path: z.string(),
    line: z.int().nullish(),
    column: z.int().nullish(),
    symbol: z.string(),
    message: z.string(),
  }),
);
const Report = z.union([
  Messages.transform((messages) => ({ messages, statistics: undefined })),
  z.object({ messages: Messages, statistics: z.object({ modulesLinted: z.int() }) }),
]);

/**
 * Exit codes are sums of 2 (error), 4 (warning), 8 (refactoring) and 16 (convention). A fatal message is 1, and a wrong
 * call 32.
 */
const exitCodes = Array.from({ length: 16 }, (_, sum) => 2 * sum);

export const pylint = defineLinter({
  name: 'pylint',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files, ['--recursive=y', '.']), '--output-format=json'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const fatal = report.messages.find(({ type }) => type === 'fatal');
    const findings = report.messages
      .filter((message) => message !== fatal)
      .map(({ type, path, line, column, symbol, message }) => ({
        file: toRelative(path, output.directory),
        ...{ line: line ?? 1, column: (column ?? 0) + 1, rule: symbol, message },
        severity: toSeverity(type === 'convention' || type === 'refactor' ? 'info' : type),
      }));
    const isClean = report.statistics === undefined || report.statistics.modulesLinted > 0;
    return toLintReport(output, { findings, isClean, exitCodes, trouble: fatal?.message });
  },
});
