import type { Runner } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { clientOptions, openClient, reportingErrors } from '../client.ts';
import { type CommandContext, defineCommand } from '../command.ts';

const usage = 'croft runners [list | create NAME | rotate NAME | revoke NAME] [--server URL] [--key-file FILE] …';

export const runners = defineCommand({
  name: 'runners',
  usage,
  options: {
    ...clientOptions,
    expires: { type: 'string', value: 'TIME', summary: 'when a new token ends, such as 2030-01-31T12:00:00Z' },
    json: { type: 'boolean', summary: 'print JSON' },
  },
  run: ({ values, positionals }, terminal) =>
    reportingErrors(terminal, async () => {
      const [action = 'list', name, ...rest] = positionals;
      if (rest.length > 0 || (action === 'list') !== (name === undefined)) throw new UsageError(`usage: ${usage}`);
      const { runners: remote } = openClient(values, terminal);
      const print = (runner: Runner) => terminal.stdout.write(render(runner, values.json ?? false));
      if (name === undefined) (await remote.list()).forEach(print);
      else if (action === 'create') show(await remote.create({ name, expiresAt: values.expires }), terminal);
      else if (action === 'rotate') show(await remote.rotate(name), terminal);
      else if (action === 'revoke') await remote.revoke(name);
      else throw new UsageError(`usage: ${usage}`);
      return 0;
    }),
});

/** Prints only the token on standard output, so that it can be redirected to a file. */
function show({ runner, token }: { runner: Runner; token: string }, { stdout, stderr }: CommandContext): void {
  stderr.write(
    `the token of the runner ${runner.name}, which is shown this once. Put it in a file and start there:\n` +
      '  croft runner --server URL --token-file FILE --root DIR\n',
  );
  stdout.write(`${token}\n`);
}

function render(runner: Runner, isJson: boolean): string {
  if (isJson) return `${JSON.stringify(runner)}\n`;
  const { name, state, report, load, lastError, lastRefused } = runner;
  const labels = Object.entries(report?.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const parts = [
    name,
    state,
    ...(report ? [report.provider, `${load?.sandboxes ?? 0}/${report.capacity} sandboxes`, report.version] : []),
    ...labels,
    ...(lastRefused ? [`another machine came with its token: ${lastRefused.address}, ${lastRefused.at}`] : []),
    ...(lastError === undefined || state === 'online' ? [] : [`last: ${lastError}`]),
  ];
  return `${parts.join('  ')}\n`;
}
