import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { findRefusedCommand } from '../core/commands/command-guard.ts';
import { collectDenials, denialList, renderDenials } from '../core/commands/denials.ts';
import { rejected, renderResult, startCommand, toResult, within } from '../core/commands/run-command.ts';
import { checkRuntimes, toShownBytes } from '../core/commands/runtimes.ts';
import type { Denial, Sandbox } from '../core/commands/sandbox.ts';
import { count } from '../core/count.ts';
import { changeSetOutput, renderChangeSet, toChangeSet } from '../core/history/change-set.ts';
import { mustHaveTransactions } from '../core/history/must-have-transactions.ts';
import { startingAt } from '../core/place.ts';
import { renderSecrets } from '../core/secrets.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';
import { stripControl } from '../lib/text/strip-control.ts';

const input = z.object({
  command: z.string().min(1).describe('Command line for bash, run in the workspace'),
  description: z.string().optional().describe('What it is for, in a few words'),
  timeout: count({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
  run_in_background: z.boolean().default(false).describe('Answer at once with a shell_id; see bash_output'),
  on_timeout: z
    .enum(['kill', 'background'])
    .default('kill')
    .describe('When time runs out: end it, or let it go on in the background'),
  transaction: z
    .boolean()
    .default(false)
    .describe('Run on a copy and answer what it would change; see transaction_commit'),
  secrets: z.array(z.string()).default([]).describe('Names of secrets to put in its environment, for this call only'),
});
type Input = z.output<typeof input>;

export const bash = defineTool({
  name: 'bash',
  aliases: ['Bash', 'Shell'],
  title: 'Run a command',
  description:
    'Run a command line in the workspace’s sandbox. Calls share /tmp, the network of the sandbox and what runs in the ' +
    'background. A failed command or one that ran out of time answers what it printed and how it ended.',
  access: 'execute',
  reach: 'one',
  input,
  output: z.object({
    output: z.string(),
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    timedOut: z.boolean(),
    durationMs: z.number(),
    truncated: z.boolean(),
    shell_id: z.string().optional().describe('Of a command that goes on in the background'),
    changes: changeSetOutput.optional().describe('Of a transaction: what a commit would change'),
    denials: denialList,
  }),
  leavesRunning: (call) => call.run_in_background || call.on_timeout === 'background',
  preview: async ({ command, secrets, transaction }) =>
    `${renderSecrets(secrets)}${transaction ? '(in a transaction, on a copy)\n' : ''}${command}`,
  async run(call, context) {
    const refused = findRefusedCommand(call.command);
    if (refused !== undefined) throw rejected(refused);
    checkRuntimes(call.command, context.workspace.commands ?? {});
    const environment = context.secrets.environment(context.workspace.name, call.secrets);
    if (call.transaction) return runInTransaction(call, environment, context);
    return call.run_in_background
      ? startInBackground(call, environment, context)
      : runInForeground(call, environment, context);
  },
});

const maxTitle = 200;

type Environment = Readonly<Record<string, string>>;

async function runInForeground(call: Input, environment: Environment, context: ToolContext) {
  const { session, workspace } = context;
  return session.sandboxes.use(workspace.name, (sandbox) => runIn(sandbox, call, environment, context));
}

async function runIn(sandbox: Sandbox, call: Input, environment: Environment, context: ToolContext) {
  const { session, workspace, signal, secrets } = context;
  signal.throwIfAborted();
  const { commands = {} } = workspace;
  const timeoutMs = Math.min(call.timeout * 1000, commands.maxMs ?? Number.POSITIVE_INFINITY);
  // A command that may go on in the background must outlive this call.
  const ended = new AbortController();
  const stop = () => ended.abort();
  signal.addEventListener('abort', stop, { once: true });
  const spec = { argv: ['bash', '-c', call.command] as const, isMerged: true, environment, signal: ended.signal };
  const started = startCommand(sandbox, spec, { bytes: toShownBytes(commands) });
  const exit = await within(started.ended, timeoutMs).finally(() => signal.removeEventListener('abort', stop));
  if (!exit && call.on_timeout === 'background') {
    const shell = session.shells.adopt(started, workspace.name, call.command);
    void session.sandboxes.use(workspace.name, () => started.ended).catch(() => {});
    const denials = collectDenials(sandbox, undefined, secrets.redact);
    return background(shell.id, call.command, stripControl(started.all.toText()), denials);
  }
  if (!exit) started.running.kill();
  const options = { timedOut: !exit, redact: secrets.redact };
  const result = toResult(started, exit ?? (await started.ended), options);
  const { stdout: _, stderr: __, ...structured } = result;
  const denials = [...result.denials];
  return { text: renderResult(result, timeoutMs), structured: { ...structured, denials }, denials };
}

/** In a sandbox of its own over a layer, which is gone with it: only what it changed is kept. */
async function runInTransaction(call: Input, environment: Environment, context: ToolContext) {
  if (call.run_in_background || call.on_timeout === 'background')
    throw new AppError('E_INVALID_INPUT', 'a transaction ends with its call: it cannot go on in the background');
  const { session, workspace, base, signal, secrets } = context;
  const { result, transaction } = await mustHaveTransactions(workspace).begin(
    session.id,
    secrets.redact(call.command).slice(0, maxTitle),
    (sandbox) => runIn(startingAt(sandbox, base), call, environment, context),
    signal,
  );
  const changes = toChangeSet(transaction);
  const text = `${result.text}transaction: ${transaction.id}\n${renderChangeSet(changes)}`;
  return { ...result, text, structured: { ...result.structured, changes } };
}

async function startInBackground(call: Input, environment: Environment, { session, workspace }: ToolContext) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // Keeps the sandbox open until it ends.
  void session.sandboxes
    .use(workspace.name, async (sandbox) => {
      const shell = session.shells.start(sandbox, workspace.name, call.command, {
        argv: ['bash', '-c', call.command],
        isMerged: true,
        environment,
        hasInput: true,
        signal: new AbortController().signal,
      });
      resolve(shell.id);
      await shell.ended;
    })
    .catch(reject);
  return background(await promise, call.command, '');
}

function background(id: string, command: string, output: string, denials: Denial[] = []) {
  return {
    text: `${output}shell_id: ${id}\nstarted in background: ${command}\n${renderDenials(denials)}`,
    denials,
    structured: {
      output,
      exitCode: null,
      signal: null,
      timedOut: false,
      durationMs: 0,
      truncated: false,
      shell_id: id,
      denials,
    },
  };
}
