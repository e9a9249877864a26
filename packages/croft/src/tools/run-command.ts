import { z } from 'zod';
import { cwd, cwdAliases, renderCwd } from '../core/arguments/common-arguments.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { checkRuntimes, toOutputLimits } from '../core/commands/command-settings.ts';
import { denialList } from '../core/commands/denials/sandbox-denials.ts';
import { noOutputNotice, renderCommandResult, runCommand } from '../core/commands/run-command.ts';
import { renderSecrets } from '../core/secrets/secrets.ts';
import { startCallIn } from '../core/sessions/resolve-start-directory.ts';
import { defineTool } from '../core/tools/tool.ts';

export const runProgram = defineTool({
  name: 'run_command',
  aliases: ['shell-run', 'RunCommand'],
  spellings: { aliases: cwdAliases },
  title: 'Run a program',
  description: 'Run a program by its arguments, without a shell: nothing in them is expanded or split.',
  toolset: 'commands',
  access: 'execute',
  reach: 'one',
  input: z.object({
    cmd: z.string().min(1).describe('Program, by name or path'),
    args: z.array(z.string()).default([]).describe('Its arguments, each as it is'),
    cwd,
    timeout_ms: lenientCount({ fallback: 60_000, max: 600_000 }).describe('Milliseconds it may take (60000)'),
    secrets: z.array(z.string()).default([]).describe('Names of secrets to put in its environment, for this call only'),
  }),
  output: z.object({
    stdout: z.string(),
    stderr: z.string(),
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    timedOut: z.boolean(),
    durationMs: z.number(),
    truncated: z.boolean(),
    denials: denialList,
  }),
  preview: async ({ cmd, args, cwd: directory, secrets }) =>
    renderSecrets(secrets) + renderCwd(directory) + [cmd, ...args].map((word) => JSON.stringify(word)).join(' '),
  async run({ cmd, args, cwd: directory, timeout_ms: wantedMs, secrets }, context) {
    const { workspace, signal, secrets: store, follower } = context;
    const { commands = {} } = workspace;
    checkRuntimes(cmd, commands);
    const { session } = await startCallIn(directory, context);
    const environment = store.environment(workspace.name, secrets);
    const timeoutMs = Math.min(wantedMs, commands.maxMs ?? Number.POSITIVE_INFINITY);
    const bounds = { timeoutMs, signal, bytes: toOutputLimits(commands), redact: store.redact, follower };
    const result = await session.sandboxes.use(workspace.name, (sandbox) =>
      runCommand(sandbox, { argv: [cmd, ...args], environment, ...bounds }),
    );
    const { output: _, ...structured } = result;
    const denials = [...result.denials];
    context.reportDenials(denials, { areShown: true });
    const text = renderCommandResult(result, timeoutMs, cmd);
    return { text, structured: { ...structured, denials }, notices: noOutputNotice(result) };
  },
});
