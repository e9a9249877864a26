import { z } from 'zod';
import { oneFile, timeoutInMs } from '../core/arguments/common-arguments.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { inputOfCheckTools } from '../core/checks/input-of-check-tools.ts';
import { chooseTests } from '../core/checks/tests/choose-tests.ts';
import { runTestsOfProjects } from '../core/checks/tests/run-tests.ts';
import { TestRunOutput, toTestResult } from '../core/checks/tests/test-result.ts';
import { CollectedCoverage, collectCoverage, renderCoverage } from '../core/coverage/collect-coverage.ts';
import { defineTool } from '../core/tools/tool.ts';

export const runTestsTool = defineTool({
  name: 'run_tests',
  aliases: ['RunTests', 'test-run'],
  spellings: { aliases: { test_name: 'name' }, forms: [oneFile, timeoutInMs] },
  title: 'Run tests',
  description:
    'Run the tests of the project with its own runner, in the sandbox, and answer the failures with file, line and ' +
    'message, and what changed since the last run. Only `green` is green: a part of the tests, a build that broke, an ' +
    'unreadable answer and a missing runner are said as such.',
  toolset: 'checks',
  isEveryday: true,
  access: 'execute',
  byproducts: 'all',
  reach: 'one',
  paths: ['files', 'path'],
  input: z.object({
    ...inputOfCheckTools,
    timeout: lenientCount({ fallback: 300, max: 1800 }).describe('Seconds it may take (300, at most 1800)'),
    files: z.array(z.string().min(1)).default([]).describe('Only these test files, from the workspace root'),
    name: z.string().optional().describe('Only tests whose name has this in it'),
    coverage: z
      .boolean()
      .default(false)
      .describe('Run each test file once more by itself and keep which lines ran, for tests_covering'),
  }),
  output: TestRunOutput.extend({ coverage: z.array(CollectedCoverage).optional() }),
  async run({ language, path, files, name, timeout, coverage }, context) {
    const { checks, files: disk } = context.workspace;
    const chosen = await chooseTests(checks, disk, { language, path, files });
    const toCall = ({ profile, files: own }: (typeof chosen)[number]) => ({
      ...{ profile, request: { files: own, name }, timeoutMs: timeout * 1000, tool: 'run_tests' },
    });
    const ran = await runTestsOfProjects(chosen.map(toCall), context);
    const { text, structured } = toTestResult(ran);
    if (!coverage) return { text, structured };
    const collected: CollectedCoverage[] = [];
    for (const [index, project] of chosen.entries()) {
      const timeoutMs = timeout * 1000 - (ran[index]?.durationMs ?? 0);
      collected.push(await collectCoverage({ ...project, timeoutMs }, context));
    }
    return {
      text: [text, ...collected.map(renderCoverage)].join('\n'),
      structured: { ...structured, coverage: collected },
    };
  },
});
