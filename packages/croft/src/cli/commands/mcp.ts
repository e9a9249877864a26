import { goQuote } from '../../lib/text/go-quote.ts';
import { parseDuration } from '../../lib/text/parse-duration.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { serveMcpStdio } from '../../mcp/stdio/serve-mcp-stdio.ts';
import { defineCommand, type Options } from '../command.ts';
import { announce, areWorkspacesDirectories, prepareApp, workspaceOptions } from '../options/workspace-options.ts';

const options = {
  ...workspaceOptions,
  drain: {
    type: 'string',
    value: 'TIME',
    summary: 'how long it waits for calls under way when it is asked to stop (10s), at most 1h',
  },
} as const satisfies Options;

const longestDrainMs = 3_600_000;

export const mcp = defineCommand({
  name: 'mcp',
  usage: 'croft mcp [--workspace DIR | --workspaces SPEC] [--readonly] [--sandbox NAME] [--network MODE] …',
  examples: ['croft mcp --workspace .', 'croft mcp --workspace . --permission-mode ask'],
  options,
  takesOnlyFlags: true,
  async run({ values }, terminal) {
    const drainMs = toDrain(values.drain ?? '10s');
    const prepared = prepareApp(values, terminal);
    // A workspace that cannot be opened is reported before the client gets any answer.
    const early = areWorkspacesDirectories(values) ? undefined : await prepared();
    const server = serveMcpStdio(async () => early ?? prepared(), {
      ...terminal,
      onError: (error) => terminal.stderr.write(`croft: ${error.message}\n`),
    });
    const app = await server.open();
    using _hangUps = terminal.onHangUp(app.reopenEvents);
    announce(values, app.workspaces.names, terminal);
    const asked = await Promise.race([server.closed, toPromise(terminal.stop)]);
    if (asked) await server.stop(drainMs);
    else await server.close();
    return 0;
  },
});

function toDrain(written: string): number {
  const ms = parseDuration(written);
  if (ms !== undefined && ms <= longestDrainMs) return ms;
  throw new UsageError(`--drain takes a time such as 30s, up to 1h, not ${goQuote(written)}`);
}

function toPromise(stop: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve(true);
    stop.addEventListener('abort', () => resolve(true), { once: true });
  });
}
