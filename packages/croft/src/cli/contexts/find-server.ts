import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readOwner } from '../../app/server/claim-data-directory.ts';
import type { Config } from '../../config.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { readProgramSync } from '../../lib/processes/spawn.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { isLoopback } from '../../link/transport/is-loopback.ts';
import { type Context, readContexts } from './context-file.ts';

/** A server and a way to get a key for it. */
interface ServerAccess {
  readonly baseUrl: string;
  /** Reads the key when it is used. Missing: nothing says who the caller is. */
  readonly readKey: (() => string) | undefined;
  /**
   * True if neither a server nor a key was named: then the server of the local data directory is used, with its own
   * token.
   */
  readonly isLocal: boolean;
}

export interface ServerFlags {
  readonly server?: string | undefined;
  readonly 'key-file'?: string | undefined;
  readonly context?: string | undefined;
  readonly data?: string | undefined;
}

/** One source of a server, a key, or both: flags, environment, or a context. */
interface Source {
  readonly server?: string | undefined;
  /** Reads the key when it is used. */
  readonly key?: (() => string) | undefined;
  readonly isLocal?: true;
}

const usualServer = 'http://127.0.0.1:7070';

/**
 * Finds server and key: flags, then `CROFT_*`, then the context, then the server of the data directory on this machine.
 * A key that belongs to a server is sent to no other one.
 */
export function findServer(flags: ServerFlags, config: Config): ServerAccess {
  const sources = listSources(flags, config);
  const baseUrl = sources.find(({ server }) => server !== undefined)?.server ?? usualServer;
  const origin = toOrigin(baseUrl);
  const source = sources.find(({ server, key }) => key && (server === undefined || toOrigin(server) === origin));
  return { baseUrl, readKey: source?.key, isLocal: source?.isLocal ?? false };
}

/**
 * Finds the server that an admin command calls: the one in a flag, or that of the local data directory. The token of a
 * data directory is never sent to the server of a context, which may belong to somebody else.
 */
export function findAdminServer({ server, data }: ServerFlags, config: Config): { baseUrl: string; token: string } {
  const directory = data ?? config.data;
  const named = server ?? (config.adminToken === undefined ? undefined : config.client.server);
  const baseUrl = named ?? findLocal(directory, config.token).server ?? usualServer;
  toOrigin(baseUrl);
  return { baseUrl, token: config.adminToken ?? readAdminToken(directory) };
}

function readAdminToken(data: string): string {
  const file = join(data, 'admin-token');
  if (existsSync(file)) return readSecret(file);
  throw new UsageError(
    `${data} has no token of an admin: start the server here with: croft serve, or name its --data DIR`,
  );
}

function listSources(flags: ServerFlags, { client, data, token }: Config): Source[] {
  const { server, 'key-file': keyFile, context } = flags;
  const isNamed = context !== undefined;
  const environment = {
    server: client.server,
    key: client.key === undefined ? keyIn(client.keyFile) : () => client.key ?? '',
  };
  return [
    { server, key: keyIn(keyFile) },
    ...(isNamed ? [] : [environment]),
    toSource(findContext(client.configHome, context ?? client.context), client.keyCommandMs),
    findLocal(flags.data ?? data, token),
  ];
}

function keyIn(file: string | undefined): Source['key'] {
  return file === undefined ? undefined : () => readSecret(file);
}

function findContext(configHome: string, named: string | undefined): Context | undefined {
  const { current, contexts } = readContexts(configHome);
  const name = named ?? current;
  if (name === undefined) return undefined;
  if (Object.hasOwn(contexts, name)) return contexts[name];
  const known = Object.keys(contexts).join(', ') || 'none';
  throw new UsageError(`there is no context ${name}; there are: ${known}. Add it with: croft context add`);
}

function toSource(context: Context | undefined, timeoutMs: number): Source {
  if (!context) return {};
  const { server, key_file: file, key_command: command } = context;
  return { server, key: command === undefined ? keyIn(file) : () => runKeyCommand(command, timeoutMs) };
}

function runKeyCommand(command: string, timeoutMs: number): string {
  const { code, output, complaint } = readProgramSync(['/bin/sh', '-c', command], { timeoutMs });
  const key = output.trim();
  if (code === 0 && key !== '') return key;
  throw new UsageError(`the key_command of the context failed: ${complaint.trim() || 'it printed no key'}`);
}

/** The server that holds the data directory now, with the token of its workspaces. A server that crashed is none. */
function findLocal(data: string, token: string | undefined): Source {
  const owner = readOwner(data);
  if (!owner?.address || owner.host !== hostname() || !isRunning(owner.pid)) return {};
  return { server: owner.address, key: () => token ?? readSecret(join(data, 'token')), isLocal: true };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the origin of a server's address. Throws for an invalid address, and for an `http` address of another
 * machine, because a key would be sent unencrypted.
 */
export function toOrigin(server: string): string {
  const url = URL.parse(server);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`a server is a URL such as https://croft.example.com, not ${server}`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('the address of a server must not have a user name or password; put the key in a file');
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && url.hostname !== 'croft.localhost')
    throw new UsageError(`${url.host} is another machine, and the key would be sent unencrypted: use https`);
  return url.origin;
}

/** Reads a secret from a file. A command line would show it to every user of the machine. */
export function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${errorMessage(thrown)}`);
  }
}
