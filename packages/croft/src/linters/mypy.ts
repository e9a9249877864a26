import { z } from 'zod';
import { defineLinter, type Finding, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { linesOf, readPrintedFindings, toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { readJson, toRelative } from '../core/readers/reader-helpers.ts';

const Entry = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
  code: z.string().nullish(),
  severity: z.string(),
});

export const mypy = defineLinter({
  name: 'mypy',
  scope: 'project',
  toArgv: (argv, files) =>
    withOptions(
      withFiles(argv, files, ['.']),
      ...['--show-column-numbers', '--show-error-codes', '--no-pretty', '--no-color-output', '--error-summary'],
    ),
  read(output) {
    const findings = [
      ...readPrintedFindings(output.stdout, output.directory),
      ...linesOf(output.stdout).flatMap((line) => readEntry(line, output.directory)),
    ];
    const isClean = /^Success: no issues found in [1-9]\d* source files?$/m.test(output.stdout);
    const isEmpty = /^There are no \.py\[i\] files/m.test(output.stderr);
    return toLintReport(output, { findings, isClean, isEmpty, ...(isEmpty && { exitCodes: [2] }) });
  },
});

/** Reads a line of `--output=json`. */
function readEntry(line: string, directory: string): Finding[] {
  const entry = line.startsWith('{"') ? readJson(Entry, line) : undefined;
  if (!entry) return [];
  const { file, column, code, severity, ...rest } = entry;
  const found = { ...rest, file: toRelative(file, directory), column: column + 1, rule: code ?? '' };
  return [{ ...found, severity: toSeverity(severity) }];
}
