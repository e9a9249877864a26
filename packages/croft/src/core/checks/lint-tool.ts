import { z } from 'zod';
import { count } from '../count.ts';
import { chooseProjects } from '../projects/project-files.ts';
import { defineTool, type Tool } from '../tool.ts';
import { checkInput } from './check-tools.ts';
import { LintOutput, toLintResult } from './lint-result.ts';
import { type Linted, type LintKind, lintAll } from './run-lint.ts';
import { nameProject, tellHistory } from './tell-history.ts';

/** What is asked of a linter and of a type checker differs in nothing but who answers. */
export function defineLintTool(kind: LintKind, words: Pick<Tool, 'aliases' | 'title' | 'description'>): Tool {
  return defineTool({
    name: `run_${kind}`,
    ...words,
    access: 'execute',
    reach: 'one',
    paths: ['files', 'path'],
    input: z.object({
      ...checkInput,
      timeout: count({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
      files: z.array(z.string().min(1)).default([]).describe('Only these files, from the workspace root'),
    }),
    output: LintOutput,
    async run({ timeout, ...choice }, context) {
      const chosen = await chooseProjects(context.workspace.checks, choice, kind);
      const calls = chosen.map((project) => ({ kind, ...project, timeoutMs: timeout * 1000 }));
      const isWhole = choice.files.length === 0;
      const toVerdicts = (all: readonly Linted[]) => (isWhole ? all.flatMap((one) => toVerdict(kind, one)) : []);
      return toLintResult(await tellHistory(context, () => lintAll(calls, context), toVerdicts));
    },
  });
}

/** What was not understood is not known. */
function toVerdict(kind: LintKind, { profile, report: { state: verdict } }: Linted) {
  return verdict === 'unreadable' ? [] : [{ tool: `run_${kind}`, project: nameProject(profile), verdict }];
}
