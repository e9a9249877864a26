import { AppError } from '@croft/protocol';
import { collectDenials } from '../core/commands/denials.ts';
import type { ToolContext, ToolResult } from '../core/tool.ts';
import type { JsonObject } from './clean.ts';
import type { ServerPool } from './server-pool.ts';
import { toToolResult } from './to-result.ts';
import type { createWhichServers } from './which-servers.ts';

export interface InnerCall {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly timeoutMs: number;
}

interface Means {
  readonly pool: ServerPool;
  readonly which: ReturnType<typeof createWhichServers>;
}

/** The toolbox keeps the time; the client is only not to be earlier. */
const laterMs = 10_000;

/** Runs a call that was let in, by the server as it is now: it may have been taken away while a person thought. */
export function createCaller({ pool, which }: Means) {
  return async ({ server: name, tool, input, timeoutMs }: InnerCall, context: ToolContext): Promise<ToolResult> => {
    const { workspace, session, signal, secrets, refused } = context;
    const server = await which.find(workspace, name);
    if (!server) throw new AppError('E_UNKNOWN_TOOL', `the workspace ${workspace.name} has no MCP server ${name}`);
    return pool.use({ name, server, workspace, session }, async (running, sandbox) => {
      try {
        return toToolResult(await running.call(tool, input, { signal, timeoutMs: timeoutMs + laterMs }));
      } finally {
        refused(collectDenials(sandbox, undefined, secrets.redact));
      }
    });
  };
}
