import { UsageError } from '../../lib/usage-error.ts';
import { keyOptions, openKeyClient, reportingErrors } from '../client.ts';
import { defineCommand } from '../command.ts';
import { findTerminalTarget } from '../terminal/find-target.ts';
import { runTerminal } from '../terminal/run-terminal.ts';

export const terminal = defineCommand({
  name: 'terminal',
  usage: 'croft terminal WORKSPACE [--sandbox NAME] [--server URL] [--key-file FILE | --context NAME]',
  options: {
    ...keyOptions,
    sandbox: { type: 'string', value: 'NAME', summary: 'the sandbox, by name or id (the only one there is)' },
  },
  run: ({ values, positionals }, outside) =>
    reportingErrors(outside, async () => {
      const [workspace, ...rest] = positionals;
      if (workspace === undefined || rest.length > 0) throw new UsageError(`usage: ${terminal.usage}`);
      const { client, baseUrl } = openKeyClient(values, outside);
      const target = await findTerminalTarget(client, workspace, values.sandbox);
      return runTerminal({ client, baseUrl, ...target, terminal: outside });
    }),
});
