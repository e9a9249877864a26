import { z } from 'zod';
import type { LintReport } from '../../project-tools/linter.ts';
import type { CheckOutput } from '../../project-tools/test-runner.ts';
import { toRelative } from '../reader-helpers.ts';
import { linesOf } from './read-printed-findings.ts';
import { noAnswerReport, parseAnswer, toLintReport } from './to-lint-report.ts';

const Message = z.object({
  ruleId: z.string().nullish(),
  severity: z.int(),
  fatal: z.boolean().nullish(),
  message: z.string(),
  line: z.int().nullish(),
  column: z.int().nullish(),
});
const Report = z.array(z.object({ filePath: z.string(), messages: z.array(Message) }));

/** Reads eslint's `--format=json`, also from tools that are built on eslint. */
export function readEslint(output: CheckOutput): LintReport {
  const report = parseAnswer(Report, output.stdout);
  if (!report) return { ...noAnswerReport(output), ...reasonIn(output.stderr) };
  const files = report.filter(({ messages }) => !messages.some(isIgnored));
  const findings = files.flatMap(({ filePath, messages }) =>
    messages.map(({ ruleId, severity, message, line, column }) => ({
      file: toRelative(filePath, output.directory),
      ...{ line: line ?? 1, column: column ?? 1, rule: ruleId ?? '', message },
      severity: severity >= 2 ? ('error' as const) : ('warning' as const),
    })),
  );
  return toLintReport(output, { findings, isClean: files.length > 0, isEmpty: files.length === 0 });
}

/** Returns the error below the line `Oops!` and the version. */
function reasonIn(stderr: string): { reason?: string } {
  const reason = linesOf(stderr).find((line) => !/^(Oops!|ESLint: )/.test(line));
  return stderr.includes('Oops!') && reason !== undefined ? { reason } : {};
}

/** An ignored file has a message without a rule and a line that is not fatal. */
function isIgnored({ ruleId, line, fatal }: z.output<typeof Message>): boolean {
  return !ruleId && line == null && fatal !== true;
}
