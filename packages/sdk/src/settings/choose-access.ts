import type { ServerAccess } from '../client/request.ts';
import { CroftError } from '../errors/croft-error.ts';

export interface AccessOptions {
  /** The address of the server. Default: `CROFT_SERVER`, then the context of `croft login`. */
  readonly server?: string | undefined;
  /** A key of an account. Default: `CROFT_KEY`, then `CROFT_KEY_FILE`, then the key of the context. */
  readonly key?: string | undefined;
  /** The name of a context. Default: `CROFT_CONTEXT`, then the current context. */
  readonly context?: string | undefined;
}

/** One place that may name a server, a key, or both. */
export interface AccessSource {
  readonly server?: string | undefined;
  /** Reads the key when it is used. */
  readonly readKey?: (() => Promise<string>) | undefined;
}

const usualServer = 'http://127.0.0.1:7070';

/** The first source that names a server decides. A key that belongs to a server is sent to no other one. */
export async function chooseAccess(sources: readonly AccessSource[]): Promise<ServerAccess> {
  const baseUrl = sources.find(({ server }) => server !== undefined)?.server ?? usualServer;
  const origin = toOrigin(baseUrl);
  const source = sources.find(
    ({ server, readKey }) => readKey && (server === undefined || toOrigin(server) === origin),
  );
  return { baseUrl, token: await source?.readKey?.() };
}

export function toSource({ server, key }: AccessOptions): AccessSource {
  return { server, readKey: key === undefined ? undefined : async () => key };
}

/** Throws for what is no address, and for one at which a key would be sent unencrypted to another machine. */
function toOrigin(server: string): string {
  const url = URL.parse(server);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CroftError('E_INVALID_INPUT', `a server is a URL, not ${JSON.stringify(server)}`);
  if (url.username !== '' || url.password !== '')
    throw new CroftError(
      'E_INVALID_INPUT',
      'the address of a server must not have a user name or password; pass the key apart from it',
    );
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new CroftError(
      'E_INVALID_INPUT',
      `${url.host} is another machine, and the key would be sent unencrypted: use https`,
    );
  return url.origin;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127(?:\.\d+){3}$/.test(host) || host === '[::1]';
}
