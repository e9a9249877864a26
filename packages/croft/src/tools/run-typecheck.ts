import { z } from 'zod';
import { checkInput } from '../core/check-tools.ts';
import { count } from '../core/count.ts';
import { toProjectPath } from '../core/pick-projects.ts';
import { LintOutput, runLint, toLintResult } from '../core/run-lint.ts';
import { defineTool } from '../core/tool.ts';

export const runTypecheck = defineTool({
  name: 'run_typecheck',
  aliases: ['RunTypecheck'],
  title: 'Type-check',
  description:
    'Run the project’s type checker or compiler in the sandbox, without building and answer its findings by file, line and rule. Only `clean` is green.',
  access: 'execute',
  reach: 'one',
  input: z.object({
    ...checkInput,
    timeout: count({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
    files: z.array(z.string().min(1)).default([]).describe('Only these files, from the workspace root'),
  }),
  output: LintOutput,
  async run({ language, path, files, timeout }, context) {
    const chosen = await context.workspace.checks.pick({ language, path: path ?? files[0] });
    const linted = [];
    for (const profile of chosen) {
      const own = files.map((file) => toProjectPath(file, profile));
      linted.push(await runLint({ kind: 'typecheck', profile, files: own, timeoutMs: timeout * 1000 }, context));
    }
    return toLintResult(linted);
  },
});
