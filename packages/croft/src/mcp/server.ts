import { randomBytes } from 'node:crypto';
import { AppError } from '@croft/protocol';
import { type CallToolResult, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { ToolResult } from '../core/tool.ts';
import type { ToolDescription } from '../core/tool-description.ts';
import { version } from '../version.ts';
import { type AskedCall, type AskingDoor, createAsking } from './asking.ts';
import type { McpApp } from './mcp-app.ts';

/** What a session is known by. */
export type SessionLike = string | { readonly id: string };

export type SessionOf<S> = (context: ServerContext) => S;

const defaultInstructions =
  'Croft gives you workspaces: durable trees of files that nothing leaves. Paths are relative to a workspace root. ' +
  'Read a file before you edit or overwrite it.';

/** For a server that shares its clients with no other. */
const ownAsking = createAsking({ key: randomBytes(32) });

/**
 * The tools of an app as MCP sees them, for either era of the protocol. Knows no tool by name.
 *
 * On the low-level server, because the toolbox already parses, validates and answers errors, once for all faces.
 */
export function createMcpServer<S extends SessionLike>(
  { toolbox, instructions = defaultInstructions }: Pick<McpApp<S>, 'toolbox' | 'instructions'>,
  sessionOf: SessionOf<S>,
  asking: AskingDoor = ownAsking,
): Server {
  const server = new Server(
    { name: 'croft', version },
    { capabilities: { tools: {} }, instructions, requestState: { verify: asking.verify } },
  );
  // When it is asked: workspaces that they name come and go.
  server.setRequestHandler('tools/list', async (_, context) => {
    const tools = await toolbox.list(sessionOf(context));
    return { tools: tools.map(describe) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    let asked: AskedCall | undefined;
    try {
      const session = sessionOf(context);
      asked = asking.begin(server, context, typeof session === 'string' ? session : session.id);
      const caller = { session, signal: signalOf(context), asker: asked.asker };
      return toResult(await toolbox.call(params.name, params.arguments ?? {}, caller));
    } catch (thrown) {
      const error = AppError.from(thrown);
      const answer = asked ? await asked.settle(error) : error;
      return AppError.is(answer) ? toErrorResult(answer) : answer;
    }
  });
  return server;
}

/** A client that takes its request back or goes away cancels what it started. */
function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  const connection = http?.req?.signal;
  return connection ? AbortSignal.any([mcpReq.signal, connection]) : mcpReq.signal;
}

function describe({ access, idempotent, inputSchema, outputSchema, ...rest }: ToolDescription) {
  return {
    name: rest.name,
    title: rest.title,
    description: rest.description,
    inputSchema: { ...inputSchema, type: 'object' as const },
    outputSchema: { ...outputSchema, type: 'object' as const },
    annotations: {
      title: rest.title,
      readOnlyHint: access === 'read',
      destructiveHint: access !== 'read',
      idempotentHint: idempotent,
      openWorldHint: access === 'execute',
    },
  };
}

export function toResult({ text, structured, image }: ToolResult): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  if (image) content.push({ type: 'image', ...image });
  return { content, structuredContent: structured };
}

export function toErrorResult(error: AppError): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: error.text }], structuredContent: { error: error.toJSON() } };
}
