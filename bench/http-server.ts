import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isError, type ToolCall } from './stdio-client.ts';

const croftProgram = join(import.meta.dirname, '../packages/croft/bin/croft');
const token = 'a-token-for-the-bench-alone';
const stopMs = 20_000;

/** An agent's session with a `croft serve`. Its first command opens its sandbox. */
export interface HttpSession {
  /** Throws unless the command ends with 0. Answers with the whole answer. */
  bash(command: string): Promise<string>;
  /** Resolves when its sandbox is closed. */
  end(): Promise<void>;
}

export interface McpSession extends HttpSession {
  /** Throws when the answer is an error. */
  call(call: ToolCall): Promise<string>;
}

export interface HttpServer extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly adminToken: string;
  /** Shakes hands; opens no sandbox yet. Left out: in the workspaces of the flags. */
  openSession(as?: { readonly path: string; readonly key: string }): Promise<McpSession>;
}

/** A real `croft serve` over this directory, or over several by name, and a client that does next to nothing and keeps its connections. */
export async function startHttpCroft(
  directory: string | Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<HttpServer> {
  const data = mkdtempSync(join(tmpdir(), 'croft-bench-data-'));
  const named = typeof directory === 'string' ? undefined : Object.entries(directory).map((pair) => pair.join('='));
  const workspaces = named ? ['--workspaces', named.join(',')] : ['--workspace', String(directory)];
  const args = ['serve', '--port', '0', '--data', data, ...workspaces, ...more];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_TOKEN: token, CROFT_ADMIN_TOKEN: token };
  const child = spawn(croftProgram, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const url = await findUrl(child.stdout);
  // Enough connections for every request, so that only the server makes a request wait.
  const agent = new Agent({ keepAlive: true });

  return {
    pid: child.pid ?? 0,
    url,
    adminToken: token,
    async openSession({ path, key } = { path: '/mcp', key: token }) {
      const send = (method: string, headers: Record<string, string>, body?: unknown) =>
        ask(`${url}${path}`, { agent, method, headers: { authorization: `Bearer ${key}`, ...headers } }, body);
      const hello = await send('POST', {}, toRequest('initialize', handshake));
      const headers = { 'mcp-session-id': String(hello.headers['mcp-session-id']) };
      await send('POST', headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
      const call = async ({ tool, args }: ToolCall) => {
        const { answer } = await send('POST', headers, toRequest('tools/call', { name: tool, arguments: args }));
        if (isError(answer)) throw new Error(`croft serve answered ${answer.slice(0, 1000)}`);
        return answer;
      };
      return {
        call,
        async bash(command) {
          const answer = await call({ tool: 'bash', args: { command } });
          if (!answer.includes('"exitCode":0,')) throw new Error(`croft serve answered ${answer.slice(0, 1000)}`);
          return answer;
        },
        end: async () => void (await send('DELETE', headers)),
      };
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      child.kill('SIGTERM');
      const deadline = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await ended;
      clearTimeout(deadline);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'croft-bench', version: '1.0.0' },
};

function toRequest(method: string, params: unknown) {
  return { jsonrpc: '2.0', id: 1, method, params };
}

export async function ask(
  url: string,
  { headers, ...options }: { readonly agent: Agent; readonly method: string; readonly headers: object },
  body: unknown,
) {
  const asked = request(url, {
    ...options,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode === undefined || response.statusCode >= 300)
    throw new Error(`croft serve answered ${response.statusCode}: ${answer.slice(0, 1000)}`);
  return { headers: response.headers, answer };
}

async function findUrl(stdout: Readable): Promise<string> {
  let words = '';
  // The pipe stays open: the server has more to say.
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    words += chunk;
    const [, url] = /croft listening on (\S+)/.exec(words) ?? [];
    if (url === undefined) continue;
    stdout.resume();
    return url;
  }
  throw new Error(`croft serve ended before it listened: ${words}`);
}
