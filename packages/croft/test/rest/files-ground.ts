import { createConnection } from 'node:net';
import { type GroundOptions, openGround } from './ground.ts';

export type FilesGround = Awaited<ReturnType<typeof openFilesGround>>;

/** A server with an account and a workspace of it, and where its files are on this machine. */
export async function openFilesGround(options: GroundOptions = {}) {
  const ground = await openGround({ limits: { requestsPerMinute: 100_000 }, ...options });
  const { accountId, token } = await ground.addAccount('ann');
  const made = await ground.send('POST', '/v1/workspaces', { token, body: { name: 'files' } });
  const { workspaceId } = made.json;
  const directory = ground.directoryOf(accountId, workspaceId);
  const root = `/v1/workspaces/${workspaceId}`;
  const newKey = async (name: string, scopes: readonly string[]) =>
    (await ground.send('POST', '/v1/keys', { token, body: { name, scopes } })).json;

  return {
    ...{ ground, accountId, token, workspaceId, directory, root, newKey },
    at: (name: string) => `${directory}/${name}`,
    /** The body is not read as JSON. */
    get: (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(`${ground.url}${root}${path}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } }),
    json: (method: string, path: string, body?: unknown, more = {}) =>
      ground.send(method, root + path, { token, ...(body !== undefined && { body }), ...more }),
    put: (path: string, text: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      ground.send('PUT', `${root}/file?path=${encodeURIComponent(path)}`, { token, text, headers }),
    audit: async () =>
      (await ground.send('GET', '/v1/audit?limit=200', { token })).json.audit as {
        action: string;
        actor: string;
        target: string;
        details: string;
      }[],
    [Symbol.asyncDispose]: () => ground[Symbol.asyncDispose](),
  };
}

/** Sends exactly these bytes, as no client would, and says what came back until the other side closed. */
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
