import { defineClientCommand } from '../define-client-command.ts';
import { findTerminalTarget } from '../terminal/find-terminal-target.ts';
import { runTerminal } from '../terminal/run-terminal.ts';

export const sh = defineClientCommand({
  name: 'sh',
  usage: 'WORKSPACE [--sandbox NAME]',
  examples: ['croft sh notes', 'croft sh notes --sandbox box'],
  options: {
    sandbox: {
      ...{ type: 'string', value: 'NAME', completes: 'sandboxes' },
      summary: 'the sandbox, by name or id (the only one there is)',
    },
  },
  takes: [1, 1],
  words: ['workspaces'],
  async run({ client, baseUrl, values, words: [workspace], terminal }) {
    const target = await findTerminalTarget(client, workspace, values.sandbox);
    return runTerminal({ client, baseUrl, ...target, terminal });
  },
});
