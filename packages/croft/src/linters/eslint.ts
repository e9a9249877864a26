import { z } from 'zod';
import { defineLinter, type Finding, withFiles } from '../core/linter.ts';
import { brokenLint, readJson, toRelative, unreadableLint } from '../core/read-output.ts';

const Report = z.array(
  z.object({
    filePath: z.string(),
    messages: z.array(
      z.object({
        ruleId: z.string().nullish(),
        severity: z.int(),
        message: z.string(),
        line: z.int().default(1),
        column: z.int().default(1),
      }),
    ),
  }),
);

export const eslint = defineLinter({
  name: 'eslint',
  toArgv: (argv, files) => withFiles(argv, files, ['.']),
  read(output) {
    const report = readJson(Report, output.stdout);
    // 2 is a crash or a wrong setting; 1 is that there are errors, which then are in the report.
    if (!report || (output.exitCode !== 0 && output.exitCode !== 1)) {
      return output.exitCode === 0 ? unreadableLint('it did not answer in JSON') : brokenLint(output);
    }
    const findings: Finding[] = report.flatMap(({ filePath, messages }) =>
      messages.map(({ ruleId, severity, message, line, column }) => ({
        file: toRelative(filePath, output.directory),
        ...{ line, column, rule: ruleId ?? '', message },
        severity: severity >= 2 ? 'error' : 'warning',
      })),
    );
    if (findings.length > 0) return { state: 'findings', findings };
    return output.exitCode === 0 ? { state: 'clean', findings } : brokenLint(output);
  },
});
