import { readFileSync } from 'node:fs';
import { McpServers } from '@croft/protocol';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';

/** Reads the operator's own file: any mistake in it stops the program. */
export function readMcpConfig(file: string | undefined): McpServers {
  if (file === undefined) return {};
  const { mcpServers } = readJson(file);
  const parsed = McpServers.safeParse(mcpServers);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--mcp-config ${file}: mcpServers: ${parsed.error.issues[0]?.message}`);
}

function readJson(file: string): { mcpServers?: unknown } {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch (thrown) {
    throw new UsageError(`--mcp-config ${file}: ${errorMessage(thrown)}`);
  }
}
