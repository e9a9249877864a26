import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { findOwnProgram } from '../../lib/processes/find-own-program.ts';
import { compactDiff } from '../../lib/text/compact-diff.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { type ConfigScope, filesOf, type McpClient, type ServerTarget, tokenVariable } from '../init/mcp-client.ts';
import { mcpClients } from '../init/mcp-clients.ts';
import { type ConfigChange, planConfigChange } from '../init/plan-config-change.ts';
import { writeConfig } from '../init/write-config.ts';

const names = mcpClients.map(({ name }) => name).join(', ');

export const init = defineCommand({
  name: 'init',
  usage: 'croft init [--client NAME …] [--scope user|project] [--workspace DIR] [--http URL] [--print | --yes]',
  examples: ['croft init', 'croft init --client cursor --scope project --print'],
  takesOnlyFlags: true,
  options: {
    client: { type: 'string', multiple: true, value: 'NAME', summary: `${names} (all that are installed)` },
    scope: {
      type: 'string',
      value: 'SCOPE',
      summary: 'user: every project of yours (the default); project: files in the current directory',
    },
    workspace: {
      type: 'string',
      value: 'DIR',
      summary: 'the directory that agents work in (the open project)',
    },
    http: {
      type: 'string',
      value: 'URL',
      summary: `a server that runs already; clients read its token from ${tokenVariable}`,
    },
    print: { type: 'boolean', summary: 'show what would change, and change nothing' },
    yes: { type: 'boolean', summary: 'change the files without a question' },
  },
  async run({ values }, terminal) {
    const clients = pickClients(values.client);
    const target = toTarget(values);
    const places = { home: homedir(), project: process.cwd(), scope: toScope(values.scope) };
    // Every file is read before the first one changes: a broken one changes nothing.
    const plans = clients.map((client) => ({ client, plan: planConfigChange(client, target, places) }));
    using asker = createAsker(terminal);
    for (const { client, plan } of plans) {
      if ('reason' in plan) terminal.stdout.write(`${client.title}: ${plan.reason}\n`);
      else await apply(plan, values, { stdout: terminal.stdout, isAgreed: asker.isAgreed });
    }
    return 0;
  },
});

function pickClients(asked: readonly string[] | undefined): readonly McpClient[] {
  const unknown = asked?.find((name) => !mcpClients.some((client) => client.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no client ${unknown}; choose one of: ${names}`);
  if (asked) return mcpClients.filter(({ name }) => asked.includes(name));
  const home = homedir();
  const found = mcpClients.filter((client) => statSync(join(home, filesOf(client).sign), { throwIfNoEntry: false }));
  if (found.length === 0) throw new UsageError(`no client was found in ${home}; name one with --client: ${names}`);
  return found;
}

function toTarget({ http, workspace }: { readonly http?: string; readonly workspace?: string }): ServerTarget {
  if (http === undefined) {
    requireLinux();
    return {
      kind: 'stdio',
      command: findOwnProgram(),
      directory: workspace === undefined ? undefined : resolve(workspace),
    };
  }
  if (workspace !== undefined)
    throw new UsageError('--workspace and --http exclude each other: a server has its workspaces');
  const url = URL.parse(http);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--http takes an http or https address, not ${http}`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--http takes an address without a password: the password would be stored in the file');
  return { kind: 'http', url: url.pathname === '/' ? new URL('/mcp', url).href : url.href };
}

/** A client cannot start a server where none runs. */
function requireLinux(): void {
  if (process.platform === 'linux') return;
  throw new UsageError(
    `this is ${process.platform}, where a client cannot start croft itself; run croft serve in a Linux virtual machine, in ` +
      'WSL 2 or in a container, and name it: croft init --http http://127.0.0.1:7070 (docs/platforms.md)',
  );
}

function toScope(asked = 'user'): ConfigScope {
  if (asked === 'user' || asked === 'project') return asked;
  throw new UsageError(`--scope takes user or project, not ${asked}`);
}

interface ApplyOptions extends Pick<CommandContext, 'stdout'> {
  isAgreed(question: string): Promise<boolean>;
}

async function apply(change: ConfigChange, flags: { print?: boolean; yes?: boolean }, options: ApplyOptions) {
  const { client, file, before, after } = change;
  const { stdout, isAgreed } = options;
  if (before === after) {
    stdout.write(`${client.title}: ${file} has Croft already\n`);
    return;
  }
  stdout.write(`${client.title}: ${file}\n${compactDiff(before ?? '', after)}\n`);
  if (flags.print) return;
  if (!flags.yes && !(await isAgreed(`Change ${file}? [y/N] `))) {
    stdout.write(`${client.title}: nothing was changed\n`);
    return;
  }
  const backup = writeConfig(change);
  stdout.write(`${client.title}: written${backup === undefined ? '' : `; the old file is ${backup}`}\n`);
}

/** Reads the answers of all questions by one reader, because a reader that closes loses what was typed ahead. */
function createAsker({ stdin, stdout, stop }: CommandContext) {
  let lines: Interface | undefined;
  let answers: AsyncIterator<string> | undefined;
  const open = () => {
    lines = createInterface({ input: stdin, output: stdout });
    stop.addEventListener('abort', () => lines?.close(), { once: true });
    return lines[Symbol.asyncIterator]();
  };
  return {
    async isAgreed(question: string): Promise<boolean> {
      if (!('isTTY' in stdin) || stdin.isTTY !== true)
        throw new UsageError(
          'nobody can be asked here, and nothing was changed; say --yes, or --print to see the change',
        );
      answers ??= open();
      stdout.write(question);
      const { value = '' } = await answers.next();
      return /^y(?:es)?$/i.test(String(value).trim());
    },
    [Symbol.dispose]: () => lines?.close(),
  };
}
