import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll } from 'vitest';
import { type CallOptions, connectStdio, croft, type McpSession, makeDirectory, type ToolAnswer } from '../harness.ts';

/**
 * One `croft mcp` over one directory for all tests of a file, so each test keeps to names of its own.
 * The client knows the tools from the start: it throws on an answer that does not fit its output schema.
 */
export function shareServer(tree: Record<string, string | Buffer> = {}) {
  const directory = makeDirectory(tree);
  let session: McpSession | undefined;
  beforeAll(async () => {
    session = await connectStdio(['--workspace', directory.path]);
    await session.client.listTools();
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  return {
    path: directory.path,
    at: directory.at,
    /** Writes a file as another program would, behind the server's back. */
    put(name: string, content: string | Buffer): string {
      mkdirSync(dirname(directory.at(name)), { recursive: true });
      writeFileSync(directory.at(name), content);
      return name;
    },
    bytes: (name: string) => readFileSync(directory.at(name)),
    text: (name: string) => readFileSync(directory.at(name), 'utf8'),
    call(name: string, args: Record<string, unknown> = {}, options?: CallOptions): Promise<ToolAnswer> {
      if (!session) throw new Error('the server is not up');
      return session.call(name, args, options);
    },
  };
}

/** The most memory the server of a session has used so far. */
export function peakMegabytes({ transport }: McpSession): number {
  const { pid } = transport as StdioClientTransport;
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const nobody = 65534;
const isRoot = process.getuid?.() === 0;

/** Takes files away from root. Whoever else runs the tests owns them already, and is not root. */
export function giveToNobody(...paths: string[]): void {
  if (isRoot) for (const path of paths) chownSync(path, nobody, nobody);
}

/** One tool call to a server that does not run as root, which could read everything. */
export async function callAsNobody(directory: string, name: string, args: Record<string, unknown>) {
  giveToNobody(directory);
  const lower = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  const [command = croft, ...args_] = [...(isRoot ? lower : []), croft, 'mcp', '--workspace', directory];
  const client = new Client({ name: 'croft-test', version: '1.0.0' });
  const env = { PATH: process.env.PATH ?? '', HOME: directory };
  await client.connect(new StdioClientTransport({ command, args: args_, cwd: '/', stderr: 'ignore', env }));
  try {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: args });
    const [block] = content as { text: string }[];
    // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
    return { text: block?.text, isError: isError === true, structured: structuredContent as any };
  } finally {
    await client.close();
  }
}

/** What a failed call says, without the hint on what to do next. */
export function messageOf({ isError, structured }: ToolAnswer): string | undefined {
  return isError ? structured?.error?.message : undefined;
}

export function codeOf({ isError, structured }: ToolAnswer): string | undefined {
  return isError ? structured?.error?.code : undefined;
}
