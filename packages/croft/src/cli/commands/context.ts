import { resolve } from 'node:path';
import { AppError } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand, defineGroup } from '../command.ts';
import { type Context, type Contexts, readContexts, writeContexts } from '../contexts/context-file.ts';
import { toOrigin } from '../contexts/find-server.ts';
import { reportingErrors } from '../open-client.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { outputOptions, printRows } from '../output/print-rows.ts';

type Row = Context & { readonly name: string; readonly isCurrent: boolean };

const list = defineCommand({
  name: 'context list',
  usage: 'croft context list [--json | -q]',
  examples: ['croft context list'],
  options: outputOptions,
  takesOnlyFlags: true,
  async run({ values }, terminal) {
    const { current, contexts } = readContexts(homeOf(terminal));
    const rows = Object.entries(contexts).map(([name, context]) => ({ name, isCurrent: name === current, ...context }));
    printRows({ rows, columns, idOf: ({ name }) => name, answer: { contexts: rows } }, values, terminal);
    return exitCodes.done;
  },
});

const columns = {
  current: ({ isCurrent }: Row) => (isCurrent ? '*' : ''),
  name: ({ name }: Row) => name,
  server: ({ server }: Row) => server,
  key: ({ key_file, key_command }: Row) => key_command ?? key_file,
};

const use = defineCommand({
  name: 'context use',
  usage: 'croft context use NAME',
  examples: ['croft context use work'],
  words: ['contexts'],
  options: {},
  run: ({ positionals }, terminal) =>
    changing(terminal, ({ contexts }) => {
      const name = onlyName(positionals, use.usage);
      if (!Object.hasOwn(contexts, name)) throw notThere(name, contexts);
      return { current: name, contexts };
    }),
});

const add = defineCommand({
  name: 'context add',
  usage: 'croft context add NAME --server URL (--key-file FILE | --key-command COMMAND)',
  examples: ['croft context add lab --server https://lab.example --key-command "pass show croft/lab"'],
  options: {
    server: { type: 'string', value: 'URL', summary: 'the server' },
    'key-file': { type: 'string', value: 'FILE', summary: 'a file that holds the key' },
    'key-command': { type: 'string', value: 'COMMAND', summary: 'a shell command that prints the key' },
  },
  run: ({ values, positionals }, terminal) =>
    changing(terminal, ({ current, contexts }) => {
      const name = onlyName(positionals, add.usage);
      const { server, 'key-file': file, 'key-command': command } = values;
      if (server === undefined || (file === undefined) === (command === undefined))
        throw new UsageError(`usage: ${add.usage}`);
      toOrigin(server);
      const key = command === undefined ? { key_file: resolve(file ?? '') } : { key_command: command };
      return { current: current ?? name, contexts: { ...contexts, [name]: { server, ...key } } };
    }),
});

const remove = defineCommand({
  name: 'context delete',
  usage: 'croft context delete NAME',
  examples: ['croft context delete lab'],
  words: ['contexts'],
  options: {},
  run: ({ positionals }, terminal) =>
    changing(terminal, ({ current, contexts }) => {
      const name = onlyName(positionals, remove.usage);
      if (!Object.hasOwn(contexts, name)) throw notThere(name, contexts);
      const { [name]: _, ...rest } = contexts;
      return { current: current === name ? undefined : current, contexts: rest };
    }),
});

export const context = defineGroup('context', { list, use, add, delete: remove });

function changing(terminal: CommandContext, change: (before: Contexts) => Contexts): Promise<number> {
  return reportingErrors(terminal, async () => {
    const home = homeOf(terminal);
    writeContexts(home, change(readContexts(home)));
    return exitCodes.done;
  });
}

function homeOf(terminal: CommandContext): string {
  return terminal.config().client.configHome;
}

function onlyName([name, ...rest]: readonly string[], usage: string): string {
  if (name === undefined || rest.length > 0 || !/^[\w.-]{1,64}$/.test(name)) throw new UsageError(`usage: ${usage}`);
  return name;
}

function notThere(name: string, contexts: Contexts['contexts']): AppError {
  const known = Object.keys(contexts).join(', ') || 'none';
  return new AppError('E_NOT_FOUND', `there is no context ${name}; there are: ${known}`);
}
