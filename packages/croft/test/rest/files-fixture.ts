import { createConnection } from 'node:net';
import { openFixture, type RestFixtureOptions } from './fixture.ts';

export type RestFilesFixture = Awaited<ReturnType<typeof openFilesFixture>>;

/** Starts a server with an account and a workspace, and gives the path of its files. */
export async function openFilesFixture(options: RestFixtureOptions = {}) {
  const fixture = await openFixture({ limits: { requestsPerMinute: 100_000 }, ...options });
  const { accountId, token } = await fixture.addAccount('ann');
  const made = await fixture.send('POST', '/v1/workspaces', { token, body: { name: 'files' } });
  const { workspaceId } = made.json;
  const directory = fixture.directoryOf(accountId, workspaceId);
  const root = `/v1/workspaces/${workspaceId}`;
  const newKey = async (name: string, scopes: readonly string[]) =>
    (await fixture.send('POST', '/v1/keys', { token, body: { name, scopes } })).json;

  return {
    ...{ fixture, accountId, token, workspaceId, directory, root, newKey },
    at: (name: string) => `${directory}/${name}`,
    /** Returns the raw response. */
    get: (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(`${fixture.url}${root}${path}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } }),
    json: (method: string, path: string, body?: unknown, more = {}) =>
      fixture.send(method, root + path, { token, ...(body !== undefined && { body }), ...more }),
    put: (path: string, text: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      fixture.send('PUT', `${root}/file?path=${encodeURIComponent(path)}`, { token, text, headers }),
    audit: async () =>
      (await fixture.send('GET', '/v1/audit?limit=200', { token })).json.audit as {
        action: string;
        actor: string;
        target: string;
        details: string;
      }[],
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

/** Sends exactly these bytes, and returns what came back until the server closed. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = createConnection(port, '127.0.0.1', () => socket.end(bytes));
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('end', () => resolve(text)).on('error', reject);
  return promise;
}
