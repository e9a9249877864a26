import { z } from 'zod';
import { cutText } from '../../../lib/text/cut-text.ts';
import type { ToolResult } from '../../tools/tool.ts';
import { TestRun } from '../check-results.ts';
import { renderTestChanges, TestChanges } from './compare-test-runs.ts';
import { renderTestCommand } from './render-test-command.ts';
import { type CompletedTestRun, renderFailures, summarizeTestRun } from './run-tests.ts';

export const TestRunOutput = z.object({
  state: TestRun.shape.state.describe('The worst of all runs'),
  green: z.boolean().describe('Whether all tests ran and passed; a part of them never counts as green'),
  runs: z.array(
    TestRun.extend({
      command: z.array(z.string()),
      exitCode: z.int().nullable(),
      timedOut: z.boolean(),
      durationMs: z.number(),
      summary: z.string().describe('In one line what came of it'),
      output: z.string().optional().describe('Output of the test runner, if the failures do not say everything'),
      truncated: z.boolean().describe('Not all failures or not all of the output are here'),
      changes: TestChanges.optional().describe('Since the last run of the same tests'),
      note: z.string().optional(),
    }),
  ),
});
type TestRunResult = ToolResult<z.input<typeof TestRunOutput>>;

const worstFirst = ['broken', 'unreadable', 'failed', 'empty', 'passed'] as const;
const shownFailures = 50;
const shownText = 20_000;

export function toTestResult(ran: readonly CompletedTestRun[]): TestRunResult {
  const state = worstFirst.find((one) => ran.some(({ run }) => run.state === one)) ?? 'empty';
  const green = state === 'passed' && ran.every(({ run }) => !run.isPart);
  return { text: ran.map(renderRun).join('\n'), structured: { state, green, runs: ran.map(toStructured) } };
}

function toStructured(one: CompletedTestRun) {
  const { run, command, output, ...rest } = one;
  const isShown = needsOutput(run);
  return {
    ...run,
    ...rest,
    summary: summarize(one),
    failures: run.failures.slice(0, shownFailures),
    command: [...command],
    ...(isShown && { output: tail(output) }),
    truncated: run.failures.length > shownFailures || (isShown && output.length > shownText),
  };
}

function summarize({ run, command, durationMs }: CompletedTestRun): string {
  const where = run.directory === '' ? run.language : `${run.language} in ${run.directory}`;
  return `${where}: ${summarizeTestRun(run)} in ${(durationMs / 1000).toFixed(1)}s (${renderTestCommand(command)})`;
}

function renderRun(one: CompletedTestRun): string {
  const { run, output, exitCode, timedOut, changes, note } = one;
  return [
    summarize(one),
    ...(run.isPart ? ['only a part of the tests was asked for: this is no verdict on the others'] : []),
    ...(note === undefined ? [] : [note]),
    ...renderTestChanges(changes),
    ...(timedOut ? ['timed out'] : []),
    renderFailures(run.failures, shownFailures),
    ...(needsOutput(run) ? [tail(output)] : []),
    `exit: ${exitCode ?? 'killed'}`,
    '',
  ].join('\n');
}

/** The printed output is needed only where the failures do not already repeat it. */
function needsOutput({ state, failures, failed }: TestRun): boolean {
  return state !== 'passed' && (failures.length === 0 || failures.length < failed);
}

/** Returns the end of the output: test runners print the cause there. */
function tail(text: string): string {
  if (text.length <= shownText) return text;
  return `... (${text.length - shownText} characters before this)\n${cutText(text.slice(-shownText), shownText)}`;
}
