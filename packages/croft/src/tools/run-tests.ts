import { z } from 'zod';
import { checkInput, TestRunOutput, toTestResult } from '../core/check-tools.ts';
import { count } from '../core/count.ts';
import { toProjectPath } from '../core/pick-projects.ts';
import { runTests } from '../core/run-tests.ts';
import { defineTool } from '../core/tool.ts';

export const runTestsTool = defineTool({
  name: 'run_tests',
  aliases: ['RunTests', 'test-run'],
  title: 'Run tests',
  description:
    'Run the tests of the project with its own runner, in the sandbox, and answer the failures with file, line and ' +
    'message. Only `passed` is green: a build that broke, an unreadable answer and a missing runner are said as such.',
  access: 'execute',
  reach: 'one',
  input: z.object({
    ...checkInput,
    timeout: count({ fallback: 300, max: 1800 }).describe('Seconds it may take (300, at most 1800)'),
    files: z.array(z.string().min(1)).default([]).describe('Only these test files, from the workspace root'),
    name: z.string().optional().describe('Only tests whose name has this in it'),
  }),
  output: TestRunOutput,
  async run({ language, path, files, name, timeout }, context) {
    const chosen = await context.workspace.checks.pick({ language, path: path ?? files[0] });
    const ran = [];
    for (const profile of chosen) {
      const request = { files: files.map((file) => toProjectPath(file, profile)), name };
      ran.push(await runTests({ profile, request, timeoutMs: timeout * 1000 }, context));
    }
    return toTestResult(ran);
  },
});
