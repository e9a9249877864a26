import { z } from 'zod';
import { oneFile, timeoutInMs } from '../core/arguments/common-arguments.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { assignFilesToProjects } from '../core/checks/assign-files-to-projects.ts';
import { inputOfCheckTools } from '../core/checks/input-of-check-tools.ts';
import { type FormatRun, runFormatter } from '../core/checks/lint/run-formatter.ts';
import { defineTool } from '../core/tools/tool.ts';

export const runFormat = defineTool({
  name: 'run_format',
  aliases: ['RunFormat'],
  spellings: { forms: [oneFile, timeoutInMs] },
  title: 'Format',
  description: 'Format files with the project’s formatter, in the sandbox, or only say what it would change.',
  toolset: 'checks',
  access: 'execute',
  byproducts: 'new',
  reach: 'one',
  paths: ['files', 'path'],
  idempotent: true,
  input: z.object({
    ...inputOfCheckTools,
    timeout: lenientCount({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
    files: z.array(z.string().min(1)).default([]).describe('Only these files, from the workspace root'),
    check: z.boolean().default(false).describe('Change nothing; fail if something would change'),
  }),
  output: z.object({
    runs: z.array(
      z.object({
        language: z.string(),
        directory: z.string(),
        command: z.array(z.string()),
        exitCode: z.int().nullable(),
        timedOut: z.boolean(),
        output: z.string(),
      }),
    ),
  }),
  async run({ check, timeout, ...choice }, context) {
    const need = check ? 'formatCheck' : 'format';
    const chosen = await assignFilesToProjects(context.workspace.checks, choice, need);
    const runs = [];
    for (const project of chosen)
      runs.push(await runFormatter({ ...project, need, timeoutMs: timeout * 1000 }, context));
    return { text: runs.map(render).join('\n'), structured: { runs } };
  },
});

function render({ command, exitCode, timedOut, output }: FormatRun): string {
  return [output, ...(timedOut ? ['timed out'] : []), `${command.join(' ')}: exit ${exitCode ?? 'killed'}`].join('\n');
}
