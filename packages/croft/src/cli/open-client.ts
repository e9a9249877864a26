import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { Croft, createClient } from '@croft/sdk';
import { UsageError } from '../lib/usage-error.ts';
import type { CommandContext, Options, Values } from './command.ts';
import { findAdminServer, findServer, readSecret, type ServerFlags } from './contexts/find-server.ts';
import { exitCodes, toSignalCode } from './output/exit-codes.ts';
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
  context: {
    type: 'string',
    value: 'NAME',
    completes: 'contexts',
    summary: 'the context to use; see croft context list',
  },
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
  return openAdmin(values, terminal).in(account);
}

/** Opens a client with the token of a server's admin. */
export function openAdmin(values: ServerFlags, terminal: CommandContext) {
  const access = findAdminServer(values, terminal.config());
  return createClient({ ...access, fetch: stoppable(terminal.stop) }).accounts;
}

/** Finds the server for a command, and the key for it if there is one. */
export function findKeyAccess(values: ServerFlags, terminal: CommandContext) {
  return findServer(values, terminal.config());
}

/** Opens a client with a key of the account only: everything is done as that person. */
export function openKeyClient(values: ServerFlags, terminal: CommandContext) {
  const { baseUrl, readKey } = findKeyAccess(values, terminal);
  if (readKey === undefined)
    throw new UsageError(
      `say who you are at ${baseUrl}: sign in once with: croft login ${baseUrl}, or name a key with --key-file FILE. ` +
        'No server runs here on this data directory; start one with: croft serve',
    );
  const { stop } = terminal;
  // Only a request that was refused because of the rate limit is sent again.
  const croft = new Croft({ server: baseUrl, key: readKey(), fetch: patient(stoppable(stop), stop), retries: 0 });
  return { baseUrl, croft, client: croft.client };
}

/** Every request ends with the program: Ctrl-C waits for no server. */
export function stoppable(stop: AbortSignal): typeof fetch {
  return (input, init) => fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, stop]) : stop });
}

/** Waits as long as a server says that asks for fewer requests a minute. */
function patient(fetch: typeof globalThis.fetch, stop: AbortSignal): typeof globalThis.fetch {
  return async (input, init) => {
    for (;;) {
      const answer = await fetch(input, init);
      const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
      const mayWait =
        answer.status === 429 && seconds <= longestPauseSeconds && !(init?.body instanceof ReadableStream);
      if (!mayWait) return answer;
      await answer.body?.cancel();
      await pause(Math.max(1, seconds) * 1000, undefined, { signal: stop });
    }
  };
}

const longestPauseSeconds = 60;

/**
 * Runs `work` and prints an error of the server as the server words it. Its code decides the exit code, unless `failure`
 * is that of every error.
 */
export async function reportingErrors(
  terminal: CommandContext,
  work: () => Promise<number>,
  failure?: number,
): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    if (terminal.stop.aborted) return toSignalCode(terminal.stop);
    // The reader of the output is gone, as `head` is when it has enough.
    if (isSystemError(thrown) && thrown.code === 'EPIPE') return exitCodes.readerGone;
    terminal.stderr.write(`croft: ${toWords(thrown)}\n`);
    return failure ?? toExitCode(thrown);
  }
}

function toWords(thrown: unknown): string {
  if (isUnreachable(thrown)) return `the server cannot be reached: ${causeOf(thrown)}${startHint}`;
  if (AppError.is(thrown) && thrown.code === 'E_UNREACHABLE') return `${thrown.message}${startHint}`;
  if (AppError.is(thrown)) return thrown.text;
  if (isSystemError(thrown)) return thrown.message;
  return `the answer of the server is not understood: ${causeOf(thrown)}`;
}

/** A file or directory of this machine that cannot be used. */
function isSystemError(thrown: unknown): thrown is NodeJS.ErrnoException {
  return thrown instanceof Error && 'syscall' in thrown;
}

const startHint = '\nNext: start it with: croft serve, or see which server commands talk to: croft status';

function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message} (${thrown.cause.message})` : thrown.message;
}

export { readSecret };
