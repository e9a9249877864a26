import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { checkInput } from '../core/check-tools.ts';
import { count } from '../core/count.ts';
import { withFiles } from '../core/linter.ts';
import { toProjectPath } from '../core/pick-projects.ts';
import type { Profile } from '../core/profile.ts';
import { runCheck } from '../core/run-check.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';

export const runFormat = defineTool({
  name: 'run_format',
  aliases: ['RunFormat'],
  title: 'Format',
  description: 'Format files with the project’s formatter, in the sandbox, or only say what it would change.',
  access: 'execute',
  reach: 'one',
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
  async run({ language, path, files, check, timeout }, context) {
    const chosen = await context.workspace.checks.pick({ language, path: path ?? files[0] });
    const runs = [];
    for (const profile of chosen) {
      const own = files.map((file) => toProjectPath(file, profile));
      runs.push(await format({ profile, files: own, check, timeoutMs: timeout * 1000 }, context));
    }
    return { text: runs.map(render).join('\n'), structured: { runs } };
  },
});

interface FormatCall {
  readonly profile: Profile;
  readonly files: readonly string[];
  readonly check: boolean;
  readonly timeoutMs: number;
}

async function format(call: FormatCall, { session, workspace, signal }: ToolContext) {
  const { profile, files, check, timeoutMs } = call;
  const { language, directory } = profile;
  const command = check ? profile.formatCheck : profile.format;
  if (!command) throw new AppError('E_NO_PROJECT', `no format command detected (${language})`);
  const argv = withFiles(command, files, ['.']);
  const { output, timedOut } = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCheck(sandbox, { profile, argv, timeoutMs, signal }),
  );
  const said = [output.stdout, output.stderr].filter((text) => text !== '').join('\n');
  return { language, directory, command: [...argv], exitCode: output.exitCode, timedOut, output: said.slice(-20_000) };
}

function render({ command, exitCode, timedOut, output }: Awaited<ReturnType<typeof format>>): string {
  return [output, ...(timedOut ? ['timed out'] : []), `${command.join(' ')}: exit ${exitCode ?? 'killed'}`].join('\n');
}
