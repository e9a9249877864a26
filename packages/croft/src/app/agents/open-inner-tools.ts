import type { McpServers } from '@croft/protocol';
import type { SessionTools } from '../../core/tools/session-tools.ts';
import type { SelectableTool } from '../../core/toolsets/select-tools.ts';
import { createInnerTools, type InnerToolsOptions } from '../../inner-mcp/inner-tools.ts';

/** Stands for all tools of MCP servers when tools are selected: either all of them are allowed or none. */
export const innerTools: SelectableTool = { name: 'mcp', toolset: 'mcp' };

/** MCP servers that run in the sandboxes of sessions. */
export interface InnerServers {
  readonly mcpServers?: McpServers | undefined;
  /** Whether the servers in a workspace's `.mcp.json` are started too. */
  readonly workspaceMcp?: boolean | undefined;
}

/** Returns nothing if no server is configured: then listing tools never starts a sandbox. */
export function openInnerTools(
  { mcpServers: servers = {}, workspaceMcp: readsWorkspaces = false }: InnerServers,
  options: Omit<InnerToolsOptions, 'servers' | 'readsWorkspaces'>,
): SessionTools | undefined {
  if (Object.keys(servers).length === 0 && !readsWorkspaces) return undefined;
  return createInnerTools({ ...options, servers, readsWorkspaces });
}
