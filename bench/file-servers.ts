import { join } from 'node:path';
import { programOf } from './install-peers.ts';
import type { StartClient, ToolCall, ToolClient } from './stdio-client.ts';

/** Calls that do the same on both servers. Paths are absolute. */
export interface FileCalls {
  read(path: string): ToolCall;
  write(path: string, content: string): ToolCall;
  edit(path: string, before: string, after: string): ToolCall;
  glob(pattern: string): ToolCall;
}

export interface FileServer extends ToolClient {
  readonly calls: FileCalls;
}

const croftProgram = join(import.meta.dirname, '../packages/croft/bin/croft');

/** Enough for all matches, because the peer answers all of them. */
const globLimit = 10_000;

export interface CroftOptions {
  /** The data directory of the server. Default: the data directory of this user, with the data of earlier runs. */
  readonly data?: string | undefined;
  /** Absent: the default durability. */
  readonly durability?: 'relaxed';
}

export async function startCroft(
  directory: string,
  start: StartClient,
  { data, durability }: CroftOptions = {},
): Promise<FileServer> {
  const flags = durability === undefined ? [] : ['--durability', durability];
  const argv = [croftProgram, 'mcp', '--workspace', directory, ...flags] as const;
  const client = await start(data === undefined ? argv : ['env', `CROFT_DATA=${data}`, ...argv]);
  const calls: FileCalls = {
    read: (path) => ({ tool: 'read', args: { file_path: path } }),
    write: (path, content) => ({ tool: 'write', args: { file_path: path, content } }),
    edit: (path, before, after) => ({
      tool: 'edit',
      args: { file_path: path, old_string: before, new_string: after },
    }),
    glob: (pattern) => ({ tool: 'glob', args: { pattern, limit: globLimit } }),
  };
  return { ...client, calls };
}

export async function startPeer(
  directory: string,
  start: StartClient,
  { isDurable = false } = {},
): Promise<FileServer> {
  const program = programOf('@modelcontextprotocol/server-filesystem', 'dist/index.js');
  const loaded = isDurable ? ['--import', join(import.meta.dirname, 'durable-peer.ts')] : [];
  const client = await start([process.execPath, ...loaded, program, directory]);
  const calls: FileCalls = {
    read: (path) => ({ tool: 'read_text_file', args: { path } }),
    write: (path, content) => ({ tool: 'write_file', args: { path, content } }),
    edit: (path, before, after) => ({
      tool: 'edit_file',
      args: { path, edits: [{ oldText: before, newText: after }] },
    }),
    glob: (pattern) => ({ tool: 'search_files', args: { path: directory, pattern } }),
  };
  return { ...client, calls };
}
