import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toSeverity } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

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
    const asked = withFiles(argv, files);
    return withOptions(asked, '--reporter=json', ...(files.length > 0 ? ['--force-exclude'] : []));
  },
  read(output) {
    const isEmpty = output.stderr.includes('No lintable files found');
    const report = answerIn(Report, isEmpty ? '[]' : output.stdout);
    if (!report) return noAnswer(output);
    const findings = report.map(({ file, line, character, rule_id, reason, severity }) => ({
      file: toRelative(file ?? '', output.directory),
      ...{ line: line ?? 1, column: character ?? 1, rule: rule_id, message: reason },
      severity: toSeverity(severity),
    }));
    // 2 is that some are serious.
    return toLintReport(output, { findings, isClean: !isEmpty, isEmpty, exitCodes: [0, 1, 2] });
  },
});
