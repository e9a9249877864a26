import type { McpServers } from '@croft/protocol';
import type { MoreTools } from '../core/more-tools.ts';
import { createInnerTools, type InnerToolsOptions } from '../inner-mcp/inner-tools.ts';

/** Which MCP servers run in the sandboxes of sessions. */
export interface InnerServers {
  readonly mcpServers?: McpServers | undefined;
  /** Whether those count that `.mcp.json` of a workspace names. */
  readonly workspaceMcp?: boolean | undefined;
}

/** Nothing where nobody named a server: then no list ever starts a sandbox. */
export function openInnerTools(
  { mcpServers: servers = {}, workspaceMcp: readsWorkspaces = false }: InnerServers,
  means: Omit<InnerToolsOptions, 'servers' | 'readsWorkspaces'>,
): MoreTools | undefined {
  if (Object.keys(servers).length === 0 && !readsWorkspaces) return undefined;
  return createInnerTools({ ...means, servers, readsWorkspaces });
}
