import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll } from 'vitest';
import {
  type CallOptions,
  connectStdio,
  croft,
  type McpSession,
  makeDirectory,
  structuredOf,
  type ToolAnswer,
} from '../support/harness.ts';

/**
 * One `croft mcp` over one directory for all tests of a file, so each test uses names of its own. The client knows the
 * tools from the start, so it throws on an answer that does not fit the output schema.
 */
export function shareServer(tree: Record<string, string | Buffer> = {}) {
  return openDirectoryServer(tree, async (directory) => {
    const session = await connectStdio(['--workspace', directory]);
    await session.client.listTools();
    return session;
  });
}

type SharedSession = Pick<McpSession, 'call' | typeof Symbol.asyncDispose>;

/** The same for a server that the caller starts over the directory. */
export function openDirectoryServer(
  tree: Record<string, string | Buffer>,
  connect: (directory: string) => Promise<SharedSession>,
) {
  const directory = makeDirectory(tree);
  let session: SharedSession | undefined;
  beforeAll(async () => {
    session = await connect(directory.path);
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

/** Returns the peak memory of a session's server. */
export function peakMegabytes({ transport }: McpSession): number {
  const { pid } = transport as StdioClientTransport;
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const nobody = 65534;
const isRoot = process.getuid?.() === 0;

/** Gives files of root to another user. A test user that is not root owns them already. */
export function giveToNobody(...paths: string[]): void {
  if (isRoot) for (const path of paths) chownSync(path, nobody, nobody);
}

/** Makes one tool call to a server that does not run as root, because root could read everything. */
export async function callAsNobody(directory: string, name: string, args: Record<string, unknown>) {
  giveToNobody(directory);
  const lower = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  const [command = croft, ...args_] = [...(isRoot ? lower : []), croft, 'mcp', '--workspace', directory];
  const client = new Client({ name: 'croft-test', version: '1.0.0' });
  const env = { PATH: process.env.PATH ?? '', HOME: directory };
  await client.connect(new StdioClientTransport({ command, args: args_, cwd: '/', stderr: 'ignore', env }));
  try {
    const result = await client.callTool({ name, arguments: args });
    const [block] = result.content as { text: string }[];
    return { text: block?.text, isError: result.isError === true, structured: structuredOf(result) };
  } finally {
    await client.close();
  }
}

/** Returns the message of a failed call without its hint. */
export function messageOf({ isError, structured }: ToolAnswer): string | undefined {
  return isError ? structured?.error?.message : undefined;
}

export function codeOf({ isError, structured }: ToolAnswer): string | undefined {
  return isError ? structured?.error?.code : undefined;
}
