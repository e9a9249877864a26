import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectStdio, type Era, type McpSession, makeDirectory } from '../support/harness.ts';

/** A real MCP server in one file, which is in the workspace and run by the sandbox's node. */
export const serverFile = readFileSync(join(import.meta.dirname, '../fixtures/inner-server.mjs'));

export interface InnerMcpFixtureOptions {
  /** Servers in the operator's own file. Without it there is no such file. */
  readonly servers?: Record<string, object>;
  readonly files?: Record<string, string>;
  readonly flags?: readonly string[];
  readonly env?: Record<string, string>;
  readonly era?: Era;
}

/** Settings of a server that behaves, or misbehaves in one way. */
export function inner(mode = 'plain', more: object = {}) {
  return { command: 'node', args: ['server.mjs', mode], ...more };
}

/** Starts a real `croft mcp` with servers for its sandbox, and a real client. */
export async function openFixture({ servers, files = {}, flags = [], env = {}, era = '2025' }: InnerMcpFixtureOptions) {
  const workspace = makeDirectory({ 'server.mjs': serverFile, ...files });
  const own = makeDirectory(servers ? { 'mcp.json': JSON.stringify({ mcpServers: servers }) } : {});
  const config = servers ? ['--mcp-config', own.at('mcp.json')] : [];
  const args = ['--workspace', workspace.path, '--events', own.at('events'), ...config, ...flags];
  const session = await connectStdio(args, { era, env });
  return {
    ...session,
    workspace,
    names: () => innerNames(session),
    told: () => reportedStates(own.at('events')),
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

/** Lists the reported states of servers, in order. */
export function reportedStates(file: string): { server: string; state: string; reason?: string }[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const events = lines.map((line) => JSON.parse(line));
  return events.filter(({ event }) => event === 'lifecycle.mcp.server').map(({ fields }) => fields);
}
