import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectStdio, type Era, type McpSession, makeDirectory } from '../harness.ts';

/** A real MCP server of one file, which lies in the workspace and is run by the node that sandboxes have. */
export const serverFile = readFileSync(join(import.meta.dirname, '../fixtures/inner-server.mjs'));

export interface GroundOptions {
  /** What the operator's own file names. Left out: there is none. */
  readonly servers?: Record<string, object>;
  readonly files?: Record<string, string>;
  readonly flags?: readonly string[];
  readonly env?: Record<string, string>;
  readonly era?: Era;
}

/** A server that behaves, or that does not in one way. */
export function inner(mode = 'plain', more: object = {}) {
  return { command: 'node', args: ['server.mjs', mode], ...more };
}

/** A real `croft mcp` with servers for its sandbox, and a real client. */
export async function openGround({ servers, files = {}, flags = [], env = {}, era = '2025' }: GroundOptions) {
  const workspace = makeDirectory({ 'server.mjs': serverFile, ...files });
  const own = makeDirectory(servers ? { 'mcp.json': JSON.stringify({ mcpServers: servers }) } : {});
  const config = servers ? ['--mcp-config', own.at('mcp.json')] : [];
  const args = ['--workspace', workspace.path, '--events', own.at('events'), ...config, ...flags];
  const session = await connectStdio(args, { era, env });
  return {
    ...session,
    workspace,
    names: () => innerNames(session),
    told: () => toldIn(own.at('events')),
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      workspace[Symbol.dispose]();
      own[Symbol.dispose]();
    },
  };
}

export async function innerNames({ client }: Pick<McpSession, 'client'>): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__'));
}

/** What was told of servers, in order. */
export function toldIn(file: string): { server: string; state: string; reason?: string }[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const events = lines.map((line) => JSON.parse(line));
  return events.filter(({ event }) => event === 'lifecycle.mcp.server').map(({ fields }) => fields);
}
