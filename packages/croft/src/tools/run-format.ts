import { z } from 'zod';
import { checkInput } from '../core/checks/check-tools.ts';
import { type Formatted, runFormatter } from '../core/checks/run-formatter.ts';
import { count } from '../core/count.ts';
import { chooseProjects } from '../core/projects/project-files.ts';
import { defineTool } from '../core/tool.ts';

export const runFormat = defineTool({
  name: 'run_format',
  aliases: ['RunFormat'],
  title: 'Format',
  description: 'Format files with the project’s formatter, in the sandbox, or only say what it would change.',
  access: 'execute',
  reach: 'one',
  paths: ['files', 'path'],
  idempotent: true,
  input: z.object({
    ...checkInput,
    timeout: count({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
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
    const chosen = await chooseProjects(context.workspace.checks, choice, need);
    const runs = [];
    for (const project of chosen)
      runs.push(await runFormatter({ ...project, need, timeoutMs: timeout * 1000 }, context));
    return { text: runs.map(render).join('\n'), structured: { runs } };
  },
});

function render({ command, exitCode, timedOut, output }: Formatted): string {
  return [output, ...(timedOut ? ['timed out'] : []), `${command.join(' ')}: exit ${exitCode ?? 'killed'}`].join('\n');
}
