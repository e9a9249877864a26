import type { HttpServer, HttpSession } from './http-server.ts';

/** An agent of a fresh account whose sandbox asks nobody, called over REST. */
export async function openRestAgent(server: Pick<HttpServer, 'url' | 'adminToken'>) {
  const { newAgent } = await openRestAccount(server);
  return newAgent('bench');
}

/** A fresh account. */
export async function openRestAccount({ url, adminToken }: Pick<HttpServer, 'url' | 'adminToken'>) {
  const { secret } = await send(adminToken, 'POST', '/accounts', { username: 'bench' });
  return {
    /** Its token, for a runner of this name. */
    newRunner: async (name: string): Promise<string> => (await send(secret, 'POST', '/v1/runners', { name })).token,
    isOnline: async (runner: string): Promise<boolean> =>
      (await send(secret, 'GET', `/v1/runners/${runner}`)).state === 'online',
    newAgent,
  };

  /** With a workspace of its own, in a sandbox that asks nobody. */
  async function newAgent(name: string, sandbox: object = {}) {
    const config = { permissionMode: 'bypass', ...sandbox };
    const { sandboxId } = await send(secret, 'POST', '/v1/sandboxes', { name, config });
    const { workspaceId } = await send(secret, 'POST', '/v1/workspaces', { name });
    const workspaces = [{ name: 'bench', workspaceId }];
    const { agentId } = await send(secret, 'POST', '/v1/agents', { name, config: { sandbox: sandboxId, workspaces } });
    return { openSession: createSessions(`/v1/agents/${agentId}`) };
  }

  function createSessions(agent: string) {
    let count = 0;
    return async (): Promise<HttpSession> => {
      count += 1;
      const session = `bench-${count}`;
      return {
        async bash(command) {
          const answer = await send(secret, 'POST', `${agent}/tools/bash`, { command }, { 'croft-session': session });
          if (answer.exitCode !== 0) throw new Error(`croft serve answered ${JSON.stringify(answer).slice(0, 1000)}`);
          return answer.output;
        },
        end: async () => void (await send(secret, 'DELETE', `${agent}/sessions/${session}`)),
      };
    };
  }

  async function send(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    // biome-ignore lint/suspicious/noExplicitAny: a bench reads answers of several shapes.
  ): Promise<any> {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }
}
