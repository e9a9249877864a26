import type { HttpServer, HttpSession } from './http-server.ts';

/** An agent of a fresh account whose sandbox asks nobody, called over REST. */
export async function openRestAgent({ url, adminToken }: Pick<HttpServer, 'url' | 'adminToken'>) {
  const { secret } = await send(adminToken, 'POST', '/accounts', { username: 'bench' });
  const config = { permissionMode: 'bypass' };
  const { sandboxId } = await send(secret, 'POST', '/v1/sandboxes', { name: 'bench', config });
  const { workspaceId } = await send(secret, 'POST', '/v1/workspaces', { name: 'bench' });
  const workspaces = [{ name: 'bench', workspaceId }];
  const { agentId } = await send(secret, 'POST', '/v1/agents', {
    name: 'bench',
    config: { sandbox: sandboxId, workspaces },
  });
  const agent = `/v1/agents/${agentId}`;
  let count = 0;

  return {
    async openSession(): Promise<HttpSession> {
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
    },
  };

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
