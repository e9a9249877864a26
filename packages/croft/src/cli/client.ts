import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { createClient } from '@croft/sdk';
import { errorMessage } from '../lib/error-message.ts';
import { UsageError } from '../lib/usage-error.ts';
import type { CommandContext, Options, Values } from './command.ts';

/** The flags of every command that calls a server. */
export const clientOptions = {
  server: { type: 'string', value: 'URL', summary: 'the server (http://127.0.0.1:7070)' },
  'key-file': { type: 'string', value: 'FILE', summary: 'a file that holds a key of the account' },
  account: {
    type: 'string',
    value: 'ID',
    summary: 'the account, to act as admin with the token of the data directory instead of a key',
  },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of the server' },
} as const satisfies Options;

type ClientValues = Values<typeof clientOptions>;

/** Opens a client with a key of the account, or as the admin of a server on this machine. */
export function openClient(values: ClientValues, terminal: CommandContext) {
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

/** Opens a client with a key of the account only: everything is done as that person. */
export function openKeyClient({ server, 'key-file': keyFile }: Pick<ClientValues, 'server' | 'key-file'>) {
  const baseUrl = server ?? 'http://127.0.0.1:7070';
  if (!URL.canParse(baseUrl)) throw new UsageError(`--server takes a URL, not ${baseUrl}`);
  if (keyFile === undefined) throw new UsageError('say who you are: --key-file FILE, which holds a key of the account');
  return { baseUrl, client: createClient({ baseUrl, token: readSecret(keyFile) }) };
}

/** Reads a secret from a file. A command line would show it to every user of the machine. */
export function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${errorMessage(thrown)}`);
  }
}

/** Runs `work` and prints an error of the server as the server words it. */
export async function reportingErrors(terminal: CommandContext, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const error = AppError.from(thrown);
    const words = error.code === 'E_INTERNAL' ? `the server cannot be reached: ${causeOf(thrown)}` : error.text;
    terminal.stderr.write(`croft: ${words}\n`);
    return 1;
  }
}

function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message} (${thrown.cause.message})` : thrown.message;
}
