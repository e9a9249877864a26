import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';

export const killShell = defineTool({
  name: 'kill_shell',
  aliases: ['KillShell'],
  spellings: { aliases: { bash_id: 'shell_id', id: 'shell_id' } },
  title: 'End a background command',
  description: 'End a background command with everything it started, and forget what it printed.',
  toolset: 'commands',
  isEveryday: true,
  access: 'execute',
  isFollowUp: true,
  reach: 'one',
  input: z.object({ shell_id: z.string().min(1).describe('From the answer that started the command') }),
  output: z.object({ shell_id: z.string(), wasRunning: z.boolean() }),
  workspaceOf: ({ shell_id }, { shells }) => shells.workspaceOf(shell_id),
  async run({ shell_id }, { session, workspace }) {
    const shell = session.shells.find(shell_id, workspace.name);
    const wasRunning = !shell.exit && !shell.failure;
    session.shells.kill(shell_id, workspace.name);
    // Waits for the end, so that the command is gone when this call answers.
    await shell.ended.catch(() => {});
    return { text: `killed: ${shell_id}\n`, structured: { shell_id, wasRunning } };
  },
});
