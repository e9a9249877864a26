import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';

export const bashInput = defineTool({
  name: 'bash_input',
  aliases: ['BashInput'],
  spellings: { aliases: { bash_id: 'shell_id', id: 'shell_id', input: 'text' } },
  title: 'Input to a background command',
  description: 'Write to the standard input of a background command, and close it if asked.',
  toolset: 'commands',
  isEveryday: true,
  access: 'execute',
  reach: 'one',
  input: z.object({
    shell_id: z.string().min(1).describe('From the answer that started the command'),
    text: z.string().default('').describe('Written as it is; end a line with \\n'),
    close: z.boolean().default(false).describe('Close the input afterwards'),
  }),
  output: z.object({ written: z.int() }),
  workspaceOf: ({ shell_id }, { shells }) => shells.workspaceOf(shell_id),
  async run({ shell_id, text, close }, { session, workspace, signal }) {
    const { running, exit } = session.shells.find(shell_id, workspace.name);
    if (exit || running.stdin.writableEnded || running.stdin.destroyed) {
      throw new AppError('E_NOT_RUNNING', `${shell_id} has ended or its input is closed, and it takes no more input`, {
        details: { shell_id },
        hint: 'See what it printed with bash_output.',
      });
    }
    if (text !== '') await write(running.stdin, text, signal);
    if (close) running.stdin.end();
    const written = Buffer.byteLength(text);
    return { text: `wrote ${written} bytes`, structured: { written } };
  },
});

/** Resolves when the program has read the text, and rejects when the caller gives up. */
function write(stdin: NodeJS.WritableStream, text: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    stdin.write(text, (failure) => (failure ? reject(failure) : resolve()));
  });
}
