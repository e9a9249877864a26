import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toRelative } from '../core/readers/read-output.ts';

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
  toArgv: (argv, files) => withOptions(withFiles(argv, files, ['.']), '--output-format=json', '--force-exclude'),
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
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

/** What cannot be read, or fails when it is run. Every rule is an error to newer versions, and none says so in older. */
function isGrave(code: string | null | undefined): boolean {
  return code == null || /^(F|E9|invalid-syntax)/.test(code);
}
