import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Era, makeDirectory, startServer, structuredOf } from '../harness.ts';

export const adminToken = 'admin-token-of-sufficient-length';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

/** Starts a real `croft serve` with accounts, over real HTTP. */
export async function startPlatform(args: readonly string[] = [], env: Record<string, string> = {}) {
  const workspace = makeDirectory();
  const server = await startServer(['--workspace', workspace.path, ...args], {
    env: { ...(env.CROFT_ADMIN_TOKEN === '' ? {} : { CROFT_ADMIN_TOKEN: adminToken }), ...withoutEmpty(env) },
  });
  return {
    ...server,
    request: (token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      request(server.url, { token, method, path, body, headers }),
    async newAccount(username = 'ann') {
      const { body } = await request(server.url, {
        token: adminToken,
        method: 'POST',
        path: '/accounts',
        body: { username },
      });
      return openAccount(server.url, body.secret, body.account.accountId);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      workspace[Symbol.dispose]();
    },
  };
}

/** An empty value removes the variable. */
function withoutEmpty(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

export type Account = ReturnType<typeof openAccount>;

/** What a client with an API key of an account can do. */
export function openAccount(url: string, secret: string, accountId: string) {
  const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    request(url, { token: secret, method, path, body, headers });
  return {
    url,
    secret,
    accountId,
    send,
    newSandbox: async (config: object = {}, name = unique('sandbox')): Promise<string> =>
      mustBe(201, await send('POST', '/v1/sandboxes', { name, config })).sandboxId,
    newWorkspace: async (config: object = {}, name = unique('workspace')): Promise<string> =>
      mustBe(201, await send('POST', '/v1/workspaces', { name, config })).workspaceId,
    newAgent: async (config: object, name = unique('agent')): Promise<string> =>
      mustBe(201, await send('POST', '/v1/agents', { name, config })).agentId,
    call: (agentId: string, tool: string, input: object = {}, headers?: Record<string, string>) =>
      send('POST', `/v1/agents/${agentId}/tools/${tool}`, input, headers),
    async tools(agentId: string): Promise<{ name: string; inputSchema: Json; isListed: boolean }[]> {
      return mustBe(200, await send('GET', `/v1/agents/${agentId}/tools`)).tools;
    },
    approve: (approvalId: string, more: object = {}) =>
      send('POST', `/v1/approvals/${approvalId}`, { decision: 'approve', ...more }),
    deny: (approvalId: string, reason?: string) =>
      send('POST', `/v1/approvals/${approvalId}`, { decision: 'deny', reason }),
  };
}

interface Sent {
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string> | undefined;
}

async function request(url: string, { token, method, path, body, headers }: Sent): Promise<Answer> {
  const response = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

export function mustBe(status: number, answer: Answer): Json {
  if (answer.status !== status) throw new Error(`${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

let count = 0;

function unique(kind: string): string {
  count += 1;
  return `${kind}-${count}`;
}

export type OnAsked = (message: string) => {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
};

/** Connects the official client to an agent's own address. With `onAsked`, the client can ask its user. */
export async function connectAgent(
  { url, secret }: Pick<Account, 'url' | 'secret'>,
  agentId: string,
  { era = '2026' as Era, onAsked, session }: { era?: Era; onAsked?: OnAsked; session?: string } = {},
) {
  const client = new Client(
    { name: 'croft-test', version: '1.0.0' },
    {
      capabilities: onAsked ? { elicitation: {} } : {},
      ...(era === '2026' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  if (onAsked) client.setRequestHandler('elicitation/create', async ({ params }) => onAsked(params.message) as never);
  const transport = new StreamableHTTPClientTransport(new URL(`/v1/agents/${agentId}/mcp`, url), {
    requestInit: {
      headers: { authorization: `Bearer ${secret}`, ...(session !== undefined && { 'croft-session': session }) },
    },
  });
  await client.connect(transport);
  return {
    client,
    async call(name: string, args: Record<string, unknown> = {}, options?: Parameters<Client['callTool']>[1]) {
      const result = await client.callTool({ name, arguments: args }, options);
      const content = (result.content ?? []) as { text?: string }[];
      const text = content.map((block) => block.text ?? '').join('');
      return { text, isError: result.isError === true, structured: structuredOf(result) as Json };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
