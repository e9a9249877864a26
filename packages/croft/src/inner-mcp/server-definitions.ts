import { posix } from 'node:path';
import { AppError, isMcpServerName, McpServer, type McpServers } from '@croft/protocol';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { Files } from '../core/files/files.ts';
import { fillSecrets } from '../core/secrets/secret-references.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import { cleanText, isObject } from './clean-json.ts';
import type { ServerLaunch } from './server-connection.ts';

/** Reports why a server that was named is ignored. */
export type ReportIgnoredServer = (server: string, words: string) => void;

const fileName = '.mcp.json';
const maxFileBytes = 64 * 1024;
const maxServers = 16;

/**
 * Reads the servers that the workspace names in `.mcp.json`. Anybody may have written that file, so that every entry is
 * checked and none gets a secret.
 */
export async function readWorkspaceServers(files: Files, note: ReportIgnoredServer): Promise<McpServers> {
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

async function readFile(files: Files, note: ReportIgnoredServer): Promise<Record<string, unknown>> {
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
  if (!isMcpServerName(name)) return 'has an invalid name';
  if (!isObject(entry)) return 'is not an object';
  if ('url' in entry) return 'is an address and not a program: .mcp.json may only name programs';
  // Without this check, whoever can write `.mcp.json` could read every secret.
  const hasSecret = JSON.stringify(entry.env ?? {}).includes('${secret:');
  return hasSecret ? 'asks for a secret, which only the agent’s own record may give to a server' : undefined;
}

/** Keeps only the keys that Croft knows: other programs store their own settings in the same entries. */
function pickKnown(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => Object.hasOwn(McpServer.shape, key)));
}

/**
 * Builds the command of a server from its definition alone: no variable of Croft is passed on. Throws `E_NOT_FOUND` for
 * an unknown secret.
 */
export function toLaunch(
  { command, args = [], env = {}, cwd = '' }: McpServer,
  { workspacePath }: Pick<Sandbox, 'workspacePath'>,
  findSecret: Secrets['get'],
): ServerLaunch {
  const fill = (value: string) => fillSecrets(value, (name) => mustFit(name, findSecret(name)));
  return {
    argv: [command, ...args],
    directory: posix.join(workspacePath, cwd),
    environment: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
  };
}

function mustFit(name: string, value: string): string {
  if (!value.includes('\0')) return value;
  throw new AppError('E_INVALID_INPUT', `secret ${name} has a NUL byte, which no variable can hold`, {
    hint: 'The server was not started. Ask the operator to store the secret as text.',
  });
}
