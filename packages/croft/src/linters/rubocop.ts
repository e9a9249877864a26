import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Offense = z.object({
  severity: z.string(),
  message: z.string(),
  cop_name: z.string(),
  location: z.object({ line: z.int(), column: z.int() }),
});
const Report = z.object({
  files: z.array(z.object({ path: z.string(), offenses: z.array(Offense) })),
  summary: z.object({ inspected_file_count: z.int() }),
});

/**
 * Options that change files. A `.rubocop` file can set them too, and no option reverts them: then the changes are
 * restored afterwards.
 */
const correcting = [
  ...['-a', '-A', '-x', '--autocorrect', '--autocorrect-all', '--auto-correct', '--auto-correct-all'],
  ...['--safe-auto-correct', '--fix-layout'],
];

export const rubocop = defineLinter({
  name: 'rubocop',
  scope: 'files',
  toArgv: (argv, files) => {
    const asked = withOptions(withoutOptions(withFiles(argv, files), correcting), '--force-exclusion');
    return withOptions(asked, ...(argv.includes('-f') ? [] : ['--format=json']));
  },
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = report.files.flatMap(({ path, offenses }) =>
      offenses.map(({ severity, message, cop_name, location: { line, column } }) => ({
        file: toRelative(path, output.directory),
        ...{ line, column, rule: cop_name, message },
        severity: toSeverity(/^(convention|refactor)$/.test(severity) ? 'info' : severity),
      })),
    );
    const isEmpty = report.summary.inspected_file_count <= 0;
    return toLintReport(output, { findings, isClean: !isEmpty, isEmpty });
  },
});
