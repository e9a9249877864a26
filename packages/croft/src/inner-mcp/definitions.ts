import { posix } from 'node:path';
import { AppError, isMcpServerName, McpServer, type McpServers } from '@croft/protocol';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { Files } from '../core/files.ts';
import type { Secrets } from '../core/secrets.ts';
import { cleanText, isObject } from './clean.ts';
import type { Launch } from './connection.ts';

/** Tells why a server that somebody named is not there. */
export type Note = (server: string, words: string) => void;

const fileName = '.mcp.json';
const maxFileBytes = 64 * 1024;
const maxServers = 16;
const secretReference = /\$\{secret:([A-Za-z0-9_-]+)\}/g;

/** The servers that the workspace itself names. Whoever wrote that: nothing in it is more than a wish. */
export async function readWorkspaceServers(files: Files, note: Note): Promise<McpServers> {
  const given = await readFile(files, note);
  const found: McpServers = {};
  for (const [name, entry] of Object.entries(given)) {
    if (Object.keys(found).length >= maxServers) {
      note(fileName, `names more than ${maxServers} servers`);
      break;
    }
    const flaw = findFlaw(name, entry);
    const server = flaw === undefined ? McpServer.safeParse(pickKnown(entry)) : undefined;
    if (server?.success) found[name] = server.data;
    else note(cleanText(name, 80), flaw ?? cleanText(server?.error?.issues[0]?.message ?? '', 200));
  }
  return found;
}

async function readFile(files: Files, note: Note): Promise<Record<string, unknown>> {
  try {
    const { bytes } = await files.read(fileName, { maxBytes: maxFileBytes });
    const { mcpServers }: { mcpServers?: unknown } = JSON.parse(bytes.toString('utf8')) ?? {};
    return isObject(mcpServers) ? mcpServers : {};
  } catch (thrown) {
    const isAbsent = AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND';
    if (!isAbsent) note(fileName, thrown instanceof SyntaxError ? 'is not JSON' : AppError.from(thrown).message);
    return {};
  }
}

function findFlaw(name: string, entry: unknown): string | undefined {
  if (!isMcpServerName(name)) return 'has a name that no server can have';
  if (!isObject(entry)) return 'is no object';
  if ('url' in entry) return 'is no program but an address, and nothing in a workspace may name one';
  // Whoever can write that file would have every secret otherwise.
  const hasSecret = JSON.stringify(entry.env ?? {}).includes('${secret:');
  return hasSecret ? 'asks for a secret, which only the agent’s own record may give to a server' : undefined;
}

/** Other programs have settings of their own in there. */
function pickKnown(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => Object.hasOwn(McpServer.shape, key)));
}

/** How a server is started: what its definition says and nothing of ours. Throws `E_NOT_FOUND` for an unknown secret. */
export function toLaunch(
  { command, args = [], env = {}, cwd = '' }: McpServer,
  { workspacePath }: Pick<Sandbox, 'workspacePath'>,
  findSecret: Secrets['get'],
): Launch {
  const fill = (value: string) =>
    value.replaceAll(secretReference, (_, name: string) => mustFit(name, findSecret(name)));
  return {
    argv: [command, ...args],
    directory: posix.join(workspacePath, cwd),
    environment: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
  };
}

function mustFit(name: string, value: string): string {
  if (!value.includes('\0')) return value;
  throw new AppError('E_INVALID_INPUT', `secret ${name} has a NUL byte, which no variable can hold`);
}
