import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Report = z.array(
  z.object({
    file: z.string().nullish(),
    line: z.int().nullish(),
    character: z.int().nullish(),
    rule_id: z.string(),
    reason: z.string(),
    severity: z.string(),
  }),
);

export const swiftlint = defineLinter({
  name: 'swiftlint',
  scope: 'files',
  toArgv: (argv, files) => {
    const asked = withoutOptions(withFiles(argv, files), ['--fix', '--autocorrect', '--format']);
    return withOptions(asked, '--reporter=json', ...(files.length > 0 ? ['--force-exclude'] : []));
  },
  read(output) {
    const isEmpty = output.stderr.includes('No lintable files found');
    const report = parseAnswer(Report, isEmpty ? '[]' : output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = report.map(({ file, line, character, rule_id, reason, severity }) => ({
      file: toRelative(file ?? '', output.directory),
      ...{ line: line ?? 1, column: character ?? 1, rule: rule_id, message: reason },
      severity: toSeverity(severity),
    }));
    // Exit code 2: some findings are serious.
    return toLintReport(output, { findings, isClean: !isEmpty, isEmpty, exitCodes: [0, 1, 2] });
  },
});
