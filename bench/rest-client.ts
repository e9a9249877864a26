import { Agent } from 'node:http';
import { ask, type HttpServer, type McpSession } from './http-server.ts';
import type { ToolCall } from './stdio-client.ts';

/** An agent of a fresh account whose sandbox asks nobody, called over REST. */
export async function openRestAgent(server: Pick<HttpServer, 'url' | 'adminToken'>) {
  const { newAgent } = await openRestAccount(server);
  return newAgent('bench');
}

/** A fresh account. */
export async function openRestAccount({ url, adminToken }: Pick<HttpServer, 'url' | 'adminToken'>) {
  // The same connection settings as for MCP, so that only the server makes a difference.
  const agent = new Agent({ keepAlive: true });
  const { secret } = await send(adminToken, 'POST', '/accounts', { username: 'bench' });
  return {
    /** Its token, for a runner of this name. */
    newRunner: async (name: string): Promise<string> => (await send(secret, 'POST', '/v1/runners', { name })).token,
    isOnline: async (runner: string): Promise<boolean> =>
      (await send(secret, 'GET', `/v1/runners/${runner}`)).state === 'online',
    newAgent,
  };

  /** Makes an agent with a new workspace and a sandbox that needs no approvals. */
  async function newAgent(name: string, sandbox: object = {}) {
    const config = { permissionMode: 'bypass', ...sandbox };
    const { sandboxId } = await send(secret, 'POST', '/v1/sandboxes', { name, config });
    const { workspaceId } = await send(secret, 'POST', '/v1/workspaces', { name });
    const workspaces = [{ name: 'bench', workspaceId }];
    const { agentId } = await send(secret, 'POST', '/v1/agents', { name, config: { sandbox: sandboxId, workspaces } });
    const path = `/v1/agents/${agentId}`;
    return { openSession: createSessions(path), mcp: { path: `${path}/mcp`, key: secret as string } };
  }

  function createSessions(agent: string) {
    let count = 0;
    return async (): Promise<McpSession> => {
      count += 1;
      const session = `bench-${count}`;
      const call = ({ tool, args }: ToolCall) =>
        send(secret, 'POST', `${agent}/tools/${tool}`, args, { 'croft-session': session });
      return {
        call,
        async bash(command) {
          const answer = await call({ tool: 'bash', args: { command } });
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
    const { answer } = await ask(
      `${url}${path}`,
      { agent, method, headers: { authorization: `Bearer ${token}`, ...headers } },
      body,
    );
    return answer === '' ? undefined : JSON.parse(answer);
  }
}
