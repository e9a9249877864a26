import { z } from 'zod';
import { timeoutInMs } from '../core/arguments/common-arguments.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import type { TestRun } from '../core/checks/check-results.ts';
import { inputOfCheckTools } from '../core/checks/input-of-check-tools.ts';
import { mustExist } from '../core/checks/tests/choose-tests.ts';
import { runTestsOfProjects } from '../core/checks/tests/run-tests.ts';
import { TestRunOutput, toTestResult } from '../core/checks/tests/test-result.ts';
import { toProjectPath } from '../core/projects/pick-projects.ts';
import type { Profile } from '../core/projects/profile.ts';
import { defineTool } from '../core/tools/tool.ts';

export const runFailingTests = defineTool({
  name: 'run_failing_tests',
  aliases: ['RunFailingTests'],
  spellings: { forms: [timeoutInMs] },
  title: 'Run failing tests again',
  description: 'Run exactly the tests again that failed in the last run of this workspace and language.',
  toolset: 'checks',
  access: 'execute',
  byproducts: 'all',
  reach: 'one',
  paths: ['path'],
  input: z.object({
    ...inputOfCheckTools,
    limit: lenientCount({ fallback: 50, max: 200 }).describe('At most this many tests (50, at most 200)'),
    timeout: lenientCount({ fallback: 300, max: 1800 }).describe('Seconds it may take (300, at most 1800)'),
  }),
  output: TestRunOutput.partial({ state: true, green: true }).extend({ note: z.string().optional() }),
  async run({ language, path, limit, timeout }, context) {
    const { checks, files } = context.workspace;
    await mustExist(files, path);
    const chosen = await checks.pick({ language, path });
    const { runs } = await checks.results.load();
    const pairs = chosen.flatMap((profile) => {
      const last = runs.find((run) => isOf(run, profile));
      return last ? [{ profile, last }] : [];
    });
    const [first] = pairs;
    if (!first) return nothingToRun('no run_tests call yet in this workspace');
    const failed = pairs.filter(({ profile, last }) => last.failures.length > 0 && last.tool === profile.test?.tool);
    if (failed.length === 0) return nothingToRun(whyNone(first.last));
    const calls = failed.map(({ profile, last: earlier }) => {
      const failures = earlier.failures.map((failure) => toProject(failure, profile));
      const request = { files: [], again: failures.slice(0, limit) };
      const about = { profile, request, others: failures.slice(limit), tool: 'run_failing_tests' };
      return { ...about, timeoutMs: timeout * 1000 };
    });
    return toTestResult(await runTestsOfProjects(calls, context));
  },
});

function isOf(run: TestRun, { language, directory }: Profile): boolean {
  return run.language === language && run.directory === directory;
}

function toProject(failure: TestRun['failures'][number], profile: Profile) {
  return failure.file === undefined ? failure : { ...failure, file: toProjectPath(failure.file, profile) };
}

function whyNone({ state, language, reason }: TestRun): string {
  if (state === 'passed') return `last run_tests had no failures — nothing to rerun (${language})`;
  if (state === 'failed') return `last run_tests cannot be repeated in part (${language}); call run_tests`;
  return `last run_tests did not get as far as a failing test (${language}: ${reason ?? state}); call run_tests`;
}

function nothingToRun(note: string) {
  return { text: note, structured: { runs: [], note } };
}
