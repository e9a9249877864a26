import { serveMcpStdio } from '../../mcp/stdio.ts';
import { defineCommand } from '../command.ts';
import { announce, openApp, workspaceOptions } from '../workspace-options.ts';

const drainMs = 10_000;

export const mcp = defineCommand({
  name: 'mcp',
  usage: 'croft mcp [--workspace DIR | --workspaces SPEC] [--readonly] [--sandbox NAME] [--network MODE] …',
  summary: 'serve one agent over standard input and output',
  options: workspaceOptions,
  takesOnlyFlags: true,
  async run({ values }, terminal) {
    await using app = openApp(values, terminal);
    announce(values, app.workspaces.names, terminal);
    const server = serveMcpStdio(app, {
      ...terminal,
      onError: (error) => terminal.stderr.write(`croft: ${error.message}\n`),
    });
    const asked = await Promise.race([server.closed, toPromise(terminal.stop)]);
    if (asked) await server.stop(drainMs);
    else await server.close();
    return 0;
  },
});

function toPromise(stop: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve(true);
    stop.addEventListener('abort', () => resolve(true), { once: true });
  });
}
