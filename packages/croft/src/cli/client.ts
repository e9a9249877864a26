import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { createClient } from '@croft/sdk';
import { UsageError } from '../lib/usage-error.ts';
import type { Options, Terminal, Values } from './command.ts';

/** The flags of every command that asks a server. */
export const clientOptions = {
  server: { type: 'string', value: 'URL', summary: 'the server (http://127.0.0.1:7070)' },
  'key-file': { type: 'string', value: 'FILE', summary: 'a file that holds a key of the account' },
  account: {
    type: 'string',
    value: 'ID',
    summary: 'the account, for who has the admin token of the data directory and no key',
  },
  data: { type: 'string', value: 'DIR', summary: 'where the server keeps what is its own' },
} as const satisfies Options;

type ClientValues = Values<typeof clientOptions>;

/** By a key of the account, or as the admin of a server on this machine. */
export function openClient(values: ClientValues, terminal: Terminal) {
  const baseUrl = values.server ?? 'http://127.0.0.1:7070';
  if (!URL.canParse(baseUrl)) throw new UsageError(`--server takes a URL, not ${baseUrl}`);
  const { 'key-file': keyFile, account } = values;
  if (keyFile !== undefined) return createClient({ baseUrl, token: readSecret(keyFile) });
  if (account === undefined)
    throw new UsageError(
      'say who you are: --key-file FILE, or --account ID with the admin token of the data directory',
    );
  const config = terminal.config();
  const token = config.adminToken ?? readSecret(join(values.data ?? config.data, 'admin-token'));
  return createClient({ baseUrl, token }).accounts.in(account);
}

/** By a key of the account alone: what is done is done as that person. */
export function openKeyClient({ server, 'key-file': keyFile }: Pick<ClientValues, 'server' | 'key-file'>) {
  const baseUrl = server ?? 'http://127.0.0.1:7070';
  if (!URL.canParse(baseUrl)) throw new UsageError(`--server takes a URL, not ${baseUrl}`);
  if (keyFile === undefined) throw new UsageError('say who you are: --key-file FILE, which holds a key of the account');
  return { baseUrl, client: createClient({ baseUrl, token: readSecret(keyFile) }) };
}

/** Never from the command line, where every user of the machine could read it. */
export function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

/** What the server refuses is told as it says it. */
export async function telling(terminal: Terminal, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const error = AppError.from(thrown);
    const words = error.code === 'E_INTERNAL' ? `the server cannot be asked: ${causeOf(thrown)}` : error.text;
    terminal.stderr.write(`croft: ${words}\n`);
    return 1;
  }
}

function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message} (${thrown.cause.message})` : thrown.message;
}
