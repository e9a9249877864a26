import { serveMcpStdio } from '../../mcp/stdio.ts';
import { defineCommand } from '../command.ts';
import { announce, openApp, workspaceOptions } from '../workspace-options.ts';

const drainMs = 10_000;

export const mcp = defineCommand({
  name: 'mcp',
  usage: 'croft mcp [--workspace DIR | --workspaces SPEC] [--readonly] [--events FILE]',
  summary: 'serve one agent over standard input and output',
  options: workspaceOptions,
  async run({ values }, terminal) {
    using app = openApp(values);
    announce(values, app.workspaces.names, terminal);
    const server = serveMcpStdio(app, {
      ...terminal,
      onError: (error) => terminal.stderr.write(`croft: ${error.message}\n`),
    });
    const stopped = new Promise<void>((resolve) => terminal.stop.addEventListener('abort', () => resolve()));
    await Promise.race([server.closed, stopped]);
    await app.toolbox.idle(drainMs);
    await server.close();
    return 0;
  },
});
