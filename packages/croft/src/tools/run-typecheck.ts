import { z } from 'zod';
import { checkInput } from '../core/check-tools.ts';
import { count } from '../core/count.ts';
import { LintOutput, toLintResult } from '../core/lint-result.ts';
import { chooseProjects } from '../core/project-files.ts';
import { lintAll } from '../core/run-lint.ts';
import { defineTool } from '../core/tool.ts';

export const runTypecheck = defineTool({
  name: 'run_typecheck',
  aliases: ['RunTypecheck'],
  title: 'Type-check',
  description:
    'Run the project’s type checker or compiler in the sandbox, without building, and answer its findings by file, line and rule. Only `clean` is green.',
  access: 'execute',
  reach: 'one',
  input: z.object({
    ...checkInput,
    timeout: count({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
    files: z.array(z.string().min(1)).default([]).describe('Only these files, from the workspace root'),
  }),
  output: LintOutput,
  async run({ timeout, ...choice }, context) {
    const chosen = await chooseProjects(context.workspace.checks, choice, 'typecheck');
    const calls = chosen.map((project) => ({ kind: 'typecheck' as const, ...project, timeoutMs: timeout * 1000 }));
    return toLintResult(await lintAll(calls, context));
  },
});
