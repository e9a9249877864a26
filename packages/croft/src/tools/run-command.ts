import { z } from 'zod';
import { denialList } from '../core/commands/denials.ts';
import { renderResult, runCommand } from '../core/commands/run-command.ts';
import { checkRuntimes, toShownBytes } from '../core/commands/runtimes.ts';
import { count } from '../core/count.ts';
import { renderSecrets } from '../core/secrets.ts';
import { defineTool } from '../core/tool.ts';

export const runProgram = defineTool({
  name: 'run_command',
  aliases: ['shell-run', 'RunCommand'],
  argumentAliases: { timeoutMs: 'timeout_ms' },
  title: 'Run a program',
  description: 'Run a program by its arguments, without a shell: nothing in them is expanded or split.',
  access: 'execute',
  reach: 'one',
  input: z.object({
    cmd: z.string().min(1).describe('Program, by name or path'),
    args: z.array(z.string()).default([]).describe('Its arguments, each as it is'),
    timeout_ms: count({ fallback: 60_000, max: 600_000 }).describe('Milliseconds it may take (60000)'),
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
  preview: async ({ cmd, args, secrets }) =>
    renderSecrets(secrets) + [cmd, ...args].map((word) => JSON.stringify(word)).join(' '),
  async run({ cmd, args, timeout_ms: wantedMs, secrets }, { session, workspace, signal, secrets: store }) {
    const { commands = {} } = workspace;
    checkRuntimes(cmd, commands);
    const environment = store.environment(workspace.name, secrets);
    const timeoutMs = Math.min(wantedMs, commands.maxMs ?? Number.POSITIVE_INFINITY);
    const bounds = { timeoutMs, signal, bytes: toShownBytes(commands), redact: store.redact };
    const result = await session.sandboxes.use(workspace.name, (sandbox) =>
      runCommand(sandbox, { argv: [cmd, ...args], environment, ...bounds }),
    );
    const { output: _, ...structured } = result;
    const denials = [...result.denials];
    return { text: renderResult(result, timeoutMs, cmd), structured: { ...structured, denials }, denials };
  },
});
