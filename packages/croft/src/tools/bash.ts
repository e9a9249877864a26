import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { cwd, cwdAliases, renderCwd, timeoutInMs } from '../core/arguments/common-arguments.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { checkRuntimes, toOutputLimits } from '../core/commands/command-settings.ts';
import { denialList, renderDenials, takeSandboxDenials } from '../core/commands/denials/sandbox-denials.ts';
import { findImpossibleCommand } from '../core/commands/find-impossible-command.ts';
import {
  noOutputNotice,
  rejectedCommandError,
  renderCommandResult,
  resultWithin,
  startCommand,
  toCommandResult,
} from '../core/commands/run-command.ts';
import type { Sandbox, SandboxDenial } from '../core/commands/sandbox.ts';
import {
  pendingTransactionOutput,
  renderPendingTransaction,
  toPendingTransactionOutput,
} from '../core/history/outputs/pending-transaction-output.ts';
import { renderSecrets } from '../core/secrets/secrets.ts';
import { startCallIn } from '../core/sessions/resolve-start-directory.ts';
import { sandboxStartingAt } from '../core/sessions/working-directory.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';
import { mustHaveTransactions } from '../core/workspace/must-have-history.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';

const input = z.object({
  command: z.string().min(1).describe('Command line for bash, run in the workspace'),
  description: z.string().optional().describe('Its purpose, in a few words'),
  timeout: lenientCount({ fallback: 120, max: 600 }).describe('Seconds it may take (120, at most 600)'),
  cwd,
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
  spellings: {
    aliases: { cmd: 'command', background: 'run_in_background', is_background: 'run_in_background', ...cwdAliases },
    forms: [timeoutInMs],
  },
  title: 'Run a command',
  description:
    'Run a command line in the workspace’s sandbox. Calls share /tmp, the network of the sandbox and what runs in the ' +
    'background. A failed command or one that ran out of time answers what it printed and how it ended.',
  toolset: 'commands',
  isEveryday: true,
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
    shell_id: z.string().optional().describe('Id of a command that goes on in the background'),
    changes: pendingTransactionOutput.optional().describe('In a transaction: what a commit would change'),
    denials: denialList,
  }),
  usesSandbox: ({ transaction }) => !transaction,
  leavesRunning: (call) => call.run_in_background || call.on_timeout === 'background',
  preview: async ({ command, cwd: directory, secrets, transaction }) =>
    `${renderSecrets(secrets)}${transaction ? '(in a transaction, on a copy)\n' : ''}${renderCwd(directory)}${command}`,
  async run(call, asked) {
    const refused = findImpossibleCommand(call.command);
    if (refused !== undefined) throw rejectedCommandError(refused);
    checkRuntimes(call.command, asked.workspace.commands ?? {});
    const context = await startCallIn(call.cwd, asked);
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
  const { session, workspace, signal, secrets, reportDenials, follower } = context;
  await sandbox.ready?.({ argv: ['bash', '-c', call.command], signal });
  signal.throwIfAborted();
  const { commands = {} } = workspace;
  const timeoutMs = Math.min(call.timeout * 1000, commands.maxMs ?? Number.POSITIVE_INFINITY);
  // A command that may go on in the background must outlive this call.
  const ended = new AbortController();
  const stop = () => ended.abort();
  signal.addEventListener('abort', stop, { once: true });
  const spec = { argv: ['bash', '-c', call.command] as const, isMerged: true, environment, signal: ended.signal };
  const started = startCommand(sandbox, spec, { bytes: toOutputLimits(commands), follower });
  const exit = await resultWithin(started.ended, timeoutMs).finally(() => signal.removeEventListener('abort', stop));
  if (!exit && call.on_timeout === 'background') {
    const shell = session.shells.adopt(started, workspace.name, call.command);
    void session.sandboxes.use(workspace.name, () => started.ended).catch(() => {});
    const denials = takeSandboxDenials(sandbox, undefined, secrets.redact);
    reportDenials(denials, { areShown: true });
    return background(shell.id, call.command, stripControlSequences(started.all.toText()), denials);
  }
  if (!exit) started.running.kill();
  const options = { timedOut: !exit, redact: secrets.redact };
  const result = toCommandResult(started, exit ?? (await started.ended), options);
  const { stdout: _, stderr: __, ...structured } = result;
  const denials = [...result.denials];
  reportDenials(denials, { areShown: true });
  const notices = noOutputNotice(result);
  return { text: renderCommandResult(result, timeoutMs), structured: { ...structured, denials }, notices };
}

/**
 * Runs the command in its own sandbox over an overlay. The overlay is removed with the sandbox; only its changes are
 * kept.
 */
async function runInTransaction(call: Input, environment: Environment, context: ToolContext) {
  if (call.run_in_background || call.on_timeout === 'background')
    throw new AppError('E_INVALID_INPUT', 'a transaction ends with its call: it cannot go on in the background');
  const { session, workspace, base, signal, secrets } = context;
  const { result, transaction } = await mustHaveTransactions(workspace).begin(
    session.id,
    secrets.redact(call.command).slice(0, maxTitle),
    (sandbox) => runIn(sandboxStartingAt(sandbox, base), call, environment, context),
    signal,
  );
  const changes = toPendingTransactionOutput(transaction);
  const text = `${result.text}transaction: ${transaction.id}\n${renderPendingTransaction(changes)}`;
  return { ...result, text, structured: { ...result.structured, changes } };
}

async function startInBackground(call: Input, environment: Environment, { session, workspace, signal }: ToolContext) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // `use` keeps the sandbox open until the command ends.
  void session.sandboxes
    .use(workspace.name, async (sandbox) => {
      await sandbox.ready?.({ argv: ['bash', '-c', call.command], signal });
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

function background(id: string, command: string, output: string, denials: SandboxDenial[] = []) {
  return {
    text: `${output}shell_id: ${id}\nstarted in background: ${command}\n${renderDenials(denials)}`,
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
