import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { TestRun } from '../core/checks/check-results.ts';
import { inputOfCheckTools } from '../core/checks/input-of-check-tools.ts';
import { renderFailures, summarizeTestRun } from '../core/checks/tests/run-tests.ts';
import { defineTool } from '../core/tools/tool.ts';

export const lastTestFailures = defineTool({
  name: 'last_test_failures',
  aliases: ['LastTestFailures'],
  title: 'Show last test failures',
  description: 'Show what failed in the last run of the tests of this workspace, without running anything.',
  toolset: 'checks',
  access: 'read',
  reach: 'one',
  paths: ['path'],
  idempotent: true,
  input: z.object({
    ...inputOfCheckTools,
    limit: lenientCount({ fallback: 50, max: 500 }).describe('At most this many failures (50, at most 500)'),
  }),
  output: z.object({ runs: z.array(TestRun) }),
  async run({ language, path, limit }, { workspace }) {
    const { runs } = await workspace.checks.results.load();
    const wanted =
      language === undefined && path === undefined ? undefined : await workspace.checks.pick({ language, path });
    const shown = wanted ? runs.filter((run) => wanted.some((profile) => isOf(run, profile))) : runs;
    if (shown.length === 0) return { text: 'no run_tests call yet in this workspace', structured: { runs: [] } };
    const text = shown.map((run) => render(run, limit)).join('\n');
    return { text, structured: { runs: shown.map((run) => ({ ...run, failures: run.failures.slice(0, limit) })) } };
  },
});

function isOf(run: TestRun, { language, directory }: { language: string; directory: string }): boolean {
  return run.language === language && run.directory === directory;
}

function render(run: TestRun, limit: number): string {
  const about = `${run.language}${run.directory === '' ? '' : ` in ${run.directory}`}, ${toAge(Date.now() - run.endedAt)}`;
  const part = run.isPart ? ', a part of them' : '';
  if (run.state === 'passed')
    return `last run_tests had no failures (${run.passed ?? 'all'} tests passed${part}, ${about})\n`;
  if (run.failures.length === 0) return `last run_tests: ${summarizeTestRun(run)} (${about})\n`;
  const head = `${run.failures.length} test failure(s) from last run_tests call (${about}):`;
  // The run did not finish normally: tests that are not listed may have failed too.
  const also = run.state === 'failed' ? [] : [summarizeTestRun(run)];
  return [head, ...also, '', renderFailures(run.failures, limit)].join('\n');
}

function toAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return 'just now';
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s ago`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m ago`;
}
