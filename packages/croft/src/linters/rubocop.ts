import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toSeverity } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

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

export const rubocop = defineLinter({
  name: 'rubocop',
  scope: 'files',
  toArgv: (argv, files) => {
    const asked = withOptions(withFiles(argv, files), '--force-exclusion');
    return withOptions(asked, ...(argv.includes('-f') ? [] : ['--format=json']));
  },
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
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
