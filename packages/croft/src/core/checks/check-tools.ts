import { z } from 'zod';
import { cutText } from '../../lib/text/cut-text.ts';
import type { ToolResult } from '../tool.ts';
import { TestRun } from './check-results.ts';
import { type RanTests, renderFailures, summarizeRun } from './run-tests.ts';

/** What every check takes. */
export const checkInput = {
  language: z.string().optional().describe('Which language, where the workspace has several; `all` for each'),
  path: z.string().optional().describe('Only the project in this directory, or of this file'),
};

export const TestRunOutput = z.object({
  state: TestRun.shape.state.describe('The worst of all runs; only `passed` is green'),
  runs: z.array(
    TestRun.extend({
      command: z.array(z.string()),
      exitCode: z.int().nullable(),
      timedOut: z.boolean(),
      durationMs: z.number(),
      output: z.string(),
      truncated: z.boolean(),
    }),
  ),
});
type TestRunResult = ToolResult<z.input<typeof TestRunOutput>>;

const worstFirst = ['broken', 'unreadable', 'failed', 'empty', 'passed'] as const;
const shownFailures = 50;
const shownText = 20_000;

export function toTestResult(ran: readonly RanTests[]): TestRunResult {
  const state = worstFirst.find((one) => ran.some(({ run }) => run.state === one)) ?? 'empty';
  const runs = ran.map(({ run, command, output, ...rest }) => ({
    ...run,
    ...rest,
    command: [...command],
    output: tail(output),
    truncated: output.length > shownText,
  }));
  return { text: ran.map(renderRun).join('\n'), structured: { state, runs } };
}

function renderRun({ run, command, output, exitCode, timedOut, durationMs }: RanTests): string {
  const where = run.directory === '' ? run.language : `${run.language} in ${run.directory}`;
  // What a runner prints for programs is no help to a reader, and failures say it better.
  const isForPrograms = /^\s*[[{]/.test(output);
  const needsOutput = run.state !== 'passed' && !(isForPrograms && run.failures.length > 0);
  return [
    `${where}: ${summarizeRun(run)} in ${(durationMs / 1000).toFixed(1)}s (${command.join(' ')})`,
    ...(timedOut ? ['timed out'] : []),
    renderFailures(run.failures, shownFailures),
    ...(needsOutput ? [tail(output)] : []),
    `exit: ${exitCode ?? 'killed'}`,
    '',
  ].join('\n');
}

/** The end of it, where runners say what went wrong. */
function tail(text: string): string {
  if (text.length <= shownText) return text;
  return `... (${text.length - shownText} characters before this)\n${cutText(text.slice(-shownText), shownText)}`;
}
