import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { toSeverity } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

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
    const report = answerIn(Report, output.stdout);
    if (!report) return noAnswer(output);
    const findings = report.comments.map(({ file, level, code, ...place }) => ({
      ...place,
      file: toRelative(file, output.directory),
      rule: `SC${code}`,
      severity: toSeverity(level === 'style' ? 'info' : level),
    }));
    return toLintReport(output, { findings, isClean: true });
  },
});
