import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { toSeverity } from '../core/readers/lint/read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Report = z.object({
  comments: z.array(
    z.object({
      file: z.string(),
      line: z.int(),
      column: z.int(),
      level: z.string(),
      code: z.int(),
      message: z.string(),
    }),
  ),
});

export const shellcheck = defineLinter({
  name: 'shellcheck',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files), ...(argv.includes('-f') ? [] : ['--format=json1'])),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return noAnswerReport(output);
    const findings = report.comments.map(({ file, level, code, ...position }) => ({
      ...position,
      file: toRelative(file, output.directory),
      rule: `SC${code}`,
      severity: toSeverity(level === 'style' ? 'info' : level),
    }));
    return toLintReport(output, { findings, isClean: true });
  },
});
