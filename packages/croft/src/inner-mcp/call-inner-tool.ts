import { AppError } from '@croft/protocol';
import { takeSandboxDenials } from '../core/commands/denials/sandbox-denials.ts';
import type { ToolContext, ToolResult } from '../core/tools/tool.ts';
import type { JsonRecord } from './clean-json.ts';
import type { ServerPool } from './server-pool.ts';
import type { createServerSelection } from './server-selection.ts';
import { toToolResult } from './to-tool-result.ts';

interface InnerCall {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonRecord;
  readonly timeoutMs: number;
}

interface CallerDependencies {
  readonly pool: ServerPool;
  readonly selection: ReturnType<typeof createServerSelection>;
}

/** Added to the client's timeout, so that the toolbox's own deadline always ends the call first. */
const laterMs = 10_000;

/**
 * Runs an approved call with the server's definition as it is now: the server may have been removed while a person
 * decided.
 */
export function createInnerToolCaller({ pool, selection }: CallerDependencies) {
  return async ({ server: name, tool, input, timeoutMs }: InnerCall, context: ToolContext): Promise<ToolResult> => {
    const { workspace, session, signal, secrets, reportDenials } = context;
    const server = await selection.find(workspace, name);
    if (!server) throw new AppError('E_UNKNOWN_TOOL', `the workspace ${workspace.name} has no MCP server ${name}`);
    return pool.use({ name, server, workspace, session }, async (running, sandbox) => {
      try {
        return toToolResult(await running.call(tool, input, { signal, timeoutMs: timeoutMs + laterMs }));
      } finally {
        reportDenials(takeSandboxDenials(sandbox, undefined, secrets.redact));
      }
    });
  };
}
