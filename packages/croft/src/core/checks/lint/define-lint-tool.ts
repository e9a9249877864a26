import { z } from 'zod';
import { oneFile, timeoutInMs } from '../../arguments/common-arguments.ts';
import { lenientCount } from '../../arguments/lenient-count.ts';
import { explainUnverified } from '../../history/ports/unverified-reason.ts';
import { sayOnce } from '../../sessions/say-once.ts';
import { defineTool, type Tool, type ToolContext } from '../../tools/tool.ts';
import { assignFilesToProjects } from '../assign-files-to-projects.ts';
import { inputOfCheckTools } from '../input-of-check-tools.ts';
import { nameProject, runAndRecordVerdicts } from '../run-and-record-verdicts.ts';
import { LintOutput, toLintResult } from './lint-result.ts';
import { type LintKind, type LintRun, lintProjects } from './run-lint.ts';

/** Defines `run_lint` or `run_typecheck`: the two differ only in the program that answers. */
export function defineLintTool(kind: LintKind, words: Pick<Tool, 'aliases' | 'title' | 'description'>): Tool {
  return defineTool({
    spellings: { forms: [oneFile, timeoutInMs] },
    name: `run_${kind}`,
    ...words,
    toolset: 'checks',
    isEveryday: true,
    access: 'execute',
    byproducts: 'all',
    reach: 'one',
    paths: ['files', 'path'],
    input: z.object({
      ...inputOfCheckTools,
      timeout: lenientCount({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
      files: z.array(z.string().min(1)).default([]).describe('Only these files, from the workspace root'),
    }),
    output: LintOutput,
    async run({ timeout, ...choice }, context) {
      const chosen = await assignFilesToProjects(context.workspace.checks, choice, kind);
      const calls = chosen.map((project) => ({ kind, ...project, timeoutMs: timeout * 1000 }));
      const isWhole = choice.files.length === 0;
      const toVerdicts = (all: readonly LintRun[]) => (isWhole ? all.flatMap((one) => toVerdict(kind, one)) : []);
      const linted = await runAndRecordVerdicts(context, () => lintProjects(calls, context), toVerdicts);
      return { ...toLintResult(linted), notices: tellUnverified(linted, context) };
    },
  });
}

/** Says once per session why changes to source files could not be verified. */
function tellUnverified(linted: readonly LintRun[], { session, workspace }: ToolContext): string[] {
  const reasons = linted.flatMap(({ unverified }) => unverified ?? []).slice(0, 1);
  return reasons.flatMap((why) => sayOnce(session, workspace.name, explainUnverified(workspace.name, why)));
}

/** An unreadable result is no verdict. */
function toVerdict(kind: LintKind, { profile, report: { state } }: LintRun) {
  const verdict = state === 'warnings' ? 'findings' : state;
  return verdict === 'unreadable' ? [] : [{ tool: `run_${kind}`, project: nameProject(profile), verdict }];
}
