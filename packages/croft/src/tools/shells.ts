import { z } from 'zod';
import {
  type BackgroundCommand,
  backgroundCommandState,
  backgroundCommandStates,
} from '../core/commands/background-commands.ts';
import { defineTool } from '../core/tools/tool.ts';
import { cutText } from '../lib/text/cut-text.ts';

/** Cuts long commands: enough remains to tell one from another. */
const maxCommand = 500;

export const shells = defineTool({
  name: 'shells',
  aliases: ['Shells', 'list_shells', 'bash_list'],
  title: 'List background commands',
  description:
    'List the background commands of this session in every workspace, those that have ended too until they are killed: the id that ' +
    'bash_output, bash_input and kill_shell take, the workspace, the command, its state and how long ago it was started.',
  toolset: 'commands',
  access: 'execute',
  isFollowUp: true,
  leavesFiles: true,
  reach: 'none',
  idempotent: true,
  input: z.object({}),
  output: z.object({
    shells: z.array(
      z.object({
        shell_id: z.string(),
        workspace: z.string(),
        command: z.string(),
        status: z.enum(backgroundCommandStates),
        exitCode: z.int().nullable(),
        startedAt: z.string(),
        ageSeconds: z.int(),
      }),
    ),
  }),
  async run(_input, { session }) {
    const rows = session.shells.list().map(toRow);
    const text = rows.map((row) => `${toLine(row)}\n`).join('');
    return { text: text === '' ? 'no background commands in this session\n' : text, structured: { shells: rows } };
  },
});

function toRow(shell: BackgroundCommand) {
  return {
    shell_id: shell.id,
    workspace: shell.workspace,
    command: cutText(shell.command, maxCommand),
    status: backgroundCommandState(shell),
    exitCode: shell.exit?.code ?? null,
    startedAt: shell.startedOn.toISOString(),
    ageSeconds: Math.max(0, Math.floor((Date.now() - shell.startedOn.getTime()) / 1000)),
  };
}

function toLine({ shell_id, workspace, status, exitCode, ageSeconds, command }: ReturnType<typeof toRow>): string {
  const state = exitCode === null ? status : `${status} (exit ${exitCode})`;
  return `${shell_id}\t${workspace}\t${state}\t${ageSeconds}s\t${JSON.stringify(command)}`;
}
