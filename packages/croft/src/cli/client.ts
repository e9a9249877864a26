import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { createClient } from '@croft/sdk';
import { UsageError } from '../lib/usage-error.ts';
import type { CommandContext, Options, Values } from './command.ts';
import { findServer, readSecret, type ServerFlags, toOrigin } from './contexts/find-server.ts';
import { toSignalCode } from './output/exit-codes.ts';
import { isUnreachable, toExitCode } from './output/to-exit-code.ts';

/** The flags of every command that calls a server with a key. */
export const keyOptions = {
  server: {
    type: 'string',
    value: 'URL',
    summary: 'the server (CROFT_SERVER, the context, or the server of the data directory)',
  },
  'key-file': {
    type: 'string',
    value: 'FILE',
    summary: 'a file that holds a key of the account (CROFT_KEY, CROFT_KEY_FILE, or the key of the context)',
  },
  context: { type: 'string', value: 'NAME', summary: 'the context to use; see croft context list' },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of the server' },
} as const satisfies Options;

/** The flags of commands that the admin of a server can also give, in any account. */
export const clientOptions = {
  ...keyOptions,
  account: {
    type: 'string',
    value: 'ID',
    summary: 'the account, to act as admin with the token of the data directory instead of a key',
  },
} as const satisfies Options;

type ClientValues = Values<typeof clientOptions>;

/** Opens a client with a key of the account, or as the admin of a server on this machine. */
export function openClient(values: ClientValues, terminal: CommandContext) {
  const { account, 'key-file': keyFile } = values;
  if (account === undefined || keyFile !== undefined) return openKeyClient(values, terminal).client;
  const config = terminal.config();
  const { baseUrl } = findServer(values, config);
  toOrigin(baseUrl);
  const token = config.adminToken ?? readSecret(join(values.data ?? config.data, 'admin-token'));
  return createClient({ baseUrl, token, fetch: stoppable(terminal.stop) }).accounts.in(account);
}

/** Opens a client with a key of the account only: everything is done as that person. */
export function openKeyClient(values: ServerFlags, terminal: CommandContext) {
  const { baseUrl, readKey } = findServer(values, terminal.config());
  if (readKey === undefined)
    throw new UsageError(
      'say who you are: --key-file FILE, or --account ID with the admin token of the data directory; ' +
        'or once for this server: croft login URL',
    );
  return { baseUrl, client: createClient({ baseUrl, token: readKey(), fetch: stoppable(terminal.stop) }) };
}

/** Every request ends with the program: Ctrl-C waits for no server. */
export function stoppable(stop: AbortSignal): typeof fetch {
  return (input, init) => fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, stop]) : stop });
}

/** Runs `work` and prints an error of the server as the server words it. Its code decides the exit code. */
export async function reportingErrors(terminal: CommandContext, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    if (terminal.stop.aborted) return toSignalCode(terminal.stop);
    terminal.stderr.write(`croft: ${toWords(thrown)}\n`);
    return toExitCode(thrown);
  }
}

function toWords(thrown: unknown): string {
  if (isUnreachable(thrown)) return `the server cannot be reached: ${causeOf(thrown)}`;
  if (AppError.is(thrown)) return thrown.text;
  return `the answer of the server is not understood: ${causeOf(thrown)}`;
}

function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message} (${thrown.cause.message})` : thrown.message;
}

export { readSecret };
