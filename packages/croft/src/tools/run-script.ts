import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { timeoutInMs } from '../core/arguments/common-arguments.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { inputOfCheckTools } from '../core/checks/input-of-check-tools.ts';
import { runCheck } from '../core/checks/run-check.ts';
import { mustExist } from '../core/checks/tests/choose-tests.ts';
import type { Argv, Profile } from '../core/projects/profile.ts';
import { defineTool } from '../core/tools/tool.ts';

export const runScript = defineTool({
  name: 'run_script',
  aliases: ['RunScript'],
  spellings: { aliases: { script: 'name' }, forms: [timeoutInMs] },
  title: 'Run a script of the project',
  description:
    'Run a script that the project defines: package.json, Makefile, composer, cargo aliases, poetry or hatch, deno tasks.',
  toolset: 'commands',
  access: 'execute',
  reach: 'one',
  paths: ['path'],
  input: z.object({
    ...inputOfCheckTools,
    name: z.string().trim().min(1).describe('Name of the script'),
    args: z.array(z.string()).default([]).describe('Arguments for it, each as it is'),
    timeout: lenientCount({ fallback: 300, max: 1800 }).describe('Seconds it may take (300, at most 1800)'),
  }),
  output: z.object({
    command: z.array(z.string()),
    stdout: z.string(),
    stderr: z.string(),
    exitCode: z.int().nullable(),
    timedOut: z.boolean(),
    durationMs: z.number(),
  }),
  async run({ language, path, name, args, timeout }, context) {
    const { workspace, session, signal } = context;
    const { checks } = workspace;
    await mustExist(workspace.files, path);
    const isAnywhere = language === undefined && path === undefined;
    const among = isAnywhere ? await checks.projects() : await checks.pick({ language: language ?? 'all', path });
    const { profile, argv } = findScript(name, among);
    const command: Argv = [argv[0], ...argv.slice(1), ...args];
    const { output, timedOut, durationMs } = await session.sandboxes.use(workspace.name, (sandbox) =>
      runCheck(sandbox, { profile, argv: command, timeoutMs: timeout * 1000, signal, tool: 'run_script', context }),
    );
    const { stdout, stderr, exitCode } = output;
    const text = [
      stdout.slice(-50_000),
      ...(stderr === '' ? [] : ['--- stderr ---', stderr.slice(-50_000)]),
      ...(timedOut ? [`timed out after ${timeout}s`] : []),
      `exit: ${exitCode ?? 'killed'}`,
    ].join('\n');
    return {
      text,
      structured: {
        command: [...command],
        stdout: stdout.slice(-50_000),
        stderr: stderr.slice(-50_000),
        exitCode,
        timedOut,
        durationMs,
      },
    };
  },
});

/** Finds the first project that defines the script. The project at the root comes first. */
function findScript(name: string, profiles: readonly Profile[]): { profile: Profile; argv: Argv } {
  for (const profile of profiles) {
    const argv = Object.hasOwn(profile.scripts, name) ? profile.scripts[name] : undefined;
    if (argv) return { profile, argv };
  }
  const known = [...new Set(profiles.flatMap(({ scripts }) => Object.keys(scripts)))].sort();
  const problems = profiles.flatMap((profile) => profile.problems ?? []).map((problem) => `; ${problem}`);
  const message = `no script named "${name}"; available: ${known.join(', ') || '(none defined)'}${problems.join('')}`;
  throw new AppError('E_NOT_FOUND', message, { details: { name, available: known } });
}
