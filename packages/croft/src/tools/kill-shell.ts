import { z } from 'zod';
import { defineTool } from '../core/tool.ts';

export const killShell = defineTool({
  name: 'kill_shell',
  aliases: ['KillShell'],
  title: 'End a background command',
  description: 'End a background command with everything it started, and forget what it printed.',
  access: 'execute',
  isFollowUp: true,
  reach: 'one',
  input: z.object({ shell_id: z.string().min(1).describe('From the answer that started the command') }),
  output: z.object({ shell_id: z.string(), wasRunning: z.boolean() }),
  async run({ shell_id }, { session, workspace }) {
    const shell = session.shells.find(shell_id, workspace.name);
    const wasRunning = !shell.exit && !shell.failure;
    session.shells.kill(shell_id, workspace.name);
    // Gone when this answers, not some time after.
    await shell.ended.catch(() => {});
    return { text: `killed: ${shell_id}\n`, structured: { shell_id, wasRunning } };
  },
});
