import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Report = z.array(
  z.object({
    code: z.string().nullish(),
    filename: z.string(),
    location: z.object({ row: z.int(), column: z.int() }),
    message: z.string(),
    severity: z.string().nullish(),
  }),
);
type Entry = z.output<typeof Report>[number];

export const ruff = defineLinter({
  name: 'ruff',
  scope: 'files',
  // Overrides `fix = true` in the settings, which would change files, and `fix-only = true`, which would hide the other
  // findings.
  toArgv: (argv, files) =>
    withOptions(
      withoutOptions(withFiles(argv, files, ['.']), ['--fix', '--fix-only', '--unsafe-fixes']),
      ...['--output-format=json', '--force-exclude', '--no-fix', '--no-fix-only'],
    ),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const unread = report.find(({ code }) => code === 'E902');
    const findings = report.filter((entry) => entry !== unread).map((entry) => toFinding(entry, output.directory));
    return toLintReport(output, {
      findings,
      isClean: true,
      isEmpty: output.stderr.includes('No Python files found'),
      trouble: unread && `${toRelative(unread.filename, output.directory)}: ${unread.message}`,
    });
  },
});

function toFinding({ filename, location, code, message, severity }: Entry, directory: string) {
  return {
    file: toRelative(filename, directory),
    ...{ line: location.row, column: location.column, rule: code ?? '', message },
    severity: severity === 'error' || isGrave(code) ? ('error' as const) : ('warning' as const),
  };
}

/**
 * Whether a rule is an error: code that cannot be parsed, or fails at run time. Newer versions call every rule an
 * error, older ones none.
 */
function isGrave(code: string | null | undefined): boolean {
  return code == null || /^(F|E9|invalid-syntax)/.test(code);
}
