import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createClient } from '@croft/sdk';
import { replacePrivateFile } from '../../lib/files/private-file.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { contextFile, readContexts, writeContexts } from '../contexts/context-file.ts';
import { toOrigin } from '../contexts/find-server.ts';
import { readSecret, reportingErrors, stoppable } from '../open-client.ts';
import { exitCodes } from '../output/exit-codes.ts';

export const login = defineCommand({
  name: 'login',
  usage: 'croft login URL [--name NAME] [--key-file FILE]',
  examples: ['croft login https://croft.example --key-file ~/croft.key'],
  options: {
    name: { type: 'string', value: 'NAME', summary: 'the name of the context (the host of the server)' },
    'key-file': {
      type: 'string',
      value: 'FILE',
      summary:
        'a file that holds the key, which the context then refers to; without it, asked for or read from standard input',
    },
  },
  run: ({ values, positionals }, terminal) =>
    reportingErrors(terminal, async () => {
      const [url, ...rest] = positionals;
      if (url === undefined || rest.length > 0) throw new UsageError(`usage: ${login.usage}`);
      const server = toOrigin(url);
      const name = toName(values.name ?? new URL(server).host.replace(/[^\w.-]+/g, '-'));
      const { 'key-file': given } = values;
      const key = given === undefined ? await askForKey(terminal) : readSecret(given);
      const client = createClient({ baseUrl: server, token: key, fetch: stoppable(terminal.stop) });
      // A wrong key is refused here, before anything is written.
      const { username } = await client.account.get();
      const { configHome } = terminal.config().client;
      const { contexts } = readContexts(configHome);
      const file = given === undefined ? join(dirname(contextFile(configHome)), 'keys', name) : resolve(given);
      if (given === undefined) replacePrivateFile(file, `${key}\n`, 'always');
      writeContexts(configHome, { current: name, contexts: { ...contexts, [name]: { server, key_file: file } } });
      terminal.stderr.write(`signed in to ${server} as ${username}; the context is ${name}\n`);
      return exitCodes.done;
    }),
});

function toName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new UsageError(`--name takes letters, digits, dots and hyphens, not ${name}`);
}

async function askForKey(terminal: CommandContext): Promise<string> {
  const { stdin, stderr } = terminal;
  const isAsked = 'isTTY' in stdin && stdin.isTTY === true;
  const key = isAsked ? await askAtTerminal(terminal) : await text(stdin);
  if (isAsked) stderr.write('\n');
  if (key.trim() !== '') return key.trim();
  throw new UsageError('no key was given; an account has keys, and its admin can make one: croft keys create');
}

/** The key is not shown: `readline` writes what is typed into nothing. */
function askAtTerminal({ stdin, stderr, stop }: CommandContext): Promise<string> {
  stderr.write('key: ');
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output, terminal: true });
  return new Promise((found) => {
    const end = (key = '') => {
      found(key);
      lines.close();
    };
    lines.once('line', end);
    lines.once('close', () => found(''));
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    stop.addEventListener('abort', () => end(), { once: true });
  });
}
