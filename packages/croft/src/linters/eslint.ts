import { z } from 'zod';
import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { answerIn, noAnswer, toLintReport } from '../core/readers/read-findings.ts';
import { linesOf } from '../core/readers/read-lines.ts';
import { toRelative } from '../core/readers/read-output.ts';

const Message = z.object({
  ruleId: z.string().nullish(),
  severity: z.int(),
  fatal: z.boolean().nullish(),
  message: z.string(),
  line: z.int().nullish(),
  column: z.int().nullish(),
});
const Report = z.array(z.object({ filePath: z.string(), messages: z.array(Message) }));

export const eslint = defineLinter({
  name: 'eslint',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withFiles(argv, files, ['.']), '--format=json'),
  read(output) {
    const report = answerIn(Report, output.stdout);
    if (!report) return { ...noAnswer(output), ...reasonIn(output.stderr) };
    const files = report.filter(({ messages }) => !messages.some(isIgnored));
    const findings = files.flatMap(({ filePath, messages }) =>
      messages.map(({ ruleId, severity, message, line, column }) => ({
        file: toRelative(filePath, output.directory),
        ...{ line: line ?? 1, column: column ?? 1, rule: ruleId ?? '', message },
        severity: severity >= 2 ? ('error' as const) : ('warning' as const),
      })),
    );
    return toLintReport(output, { findings, isClean: files.length > 0, isEmpty: files.length === 0 });
  },
});

/** Below its cry and its version. */
function reasonIn(stderr: string): { reason?: string } {
  const reason = linesOf(stderr).find((line) => !/^(Oops!|ESLint: )/.test(line));
  return stderr.includes('Oops!') && reason !== undefined ? { reason } : {};
}

/** A file that is left out has a message that is of no rule, of no line and not fatal. */
function isIgnored({ ruleId, line, fatal }: z.output<typeof Message>): boolean {
  return !ruleId && line == null && fatal !== true;
}
