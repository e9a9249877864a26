import { randomBytes } from 'node:crypto';
import { AppError } from '@croft/protocol';
import { Server, type ServerContext } from '@modelcontextprotocol/server';
import { version } from '../version.ts';
import { type ClientElicitation, createElicitation, type ElicitedCall } from './elicitation.ts';
import type { McpApp } from './mcp-app.ts';
import {
  createProgressNotifications,
  type Progress,
  type ProgressNotificationsOptions,
} from './progress-notifications.ts';
import { maxAnswerBytes, toErrorResult, toResult } from './to-mcp-result.ts';
import { toMcpTool } from './to-mcp-tool.ts';

/** A session, or the id of one. */
export type SessionLike = string | { readonly id: string };

type SessionOf<S> = (context: ServerContext) => S;

interface McpServerOptions {
  /** Without it, this server uses a key of its own, which no other server knows. */
  readonly elicitation?: ClientElicitation | undefined;
  /** Instructions for the model. Without it, the default instructions are used. */
  readonly instructions?: string | undefined;
}

const defaultInstructions =
  'Croft gives you workspaces: durable trees of files that nothing leaves. Paths are relative to a workspace root. ' +
  'Read a file before you edit or overwrite it.';

/** The elicitation of a process whose clients talk to no other server: its key need not be shared. */
const ownElicitation = createElicitation({ key: randomBytes(32) });

/**
 * Serves the tools of an app over MCP, for both protocols. Knows no tool by name.
 *
 * Uses the SDK's low-level server, because the toolbox already parses, validates and converts errors for all faces.
 */
export function createMcpServer<S extends SessionLike>(
  toolbox: McpApp<S>['toolbox'],
  sessionOf: SessionOf<S>,
  { elicitation = ownElicitation, instructions = defaultInstructions }: McpServerOptions = {},
): Server {
  const server = new Server(
    { name: 'croft', version },
    { capabilities: { tools: {} }, instructions, requestState: { verify: elicitation.verify } },
  );
  // Listed for every request, because descriptions name workspaces, which come and go.
  server.setRequestHandler('tools/list', async (_, context) => {
    const tools = await toolbox.list(sessionOf(context));
    return { tools: tools.filter(({ isListed }) => isListed).map(toMcpTool) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    let asked: ElicitedCall | undefined;
    const progress = progressOf(params.name, context);
    try {
      const session = sessionOf(context);
      const id = typeof session === 'string' ? session : session.id;
      asked = elicitation.begin(server, context, { session: id, progress });
      const { onActivity } = progress;
      const caller = { session, signal: signalOf(context), asker: asked.asker, maxAnswerBytes, onActivity };
      return toResult(await toolbox.call(params.name, params.arguments ?? {}, caller));
    } catch (thrown) {
      const error = AppError.from(thrown);
      const answer = asked ? await asked.answerFailure(error) : error;
      return AppError.is(answer) ? toErrorResult(answer) : answer;
    } finally {
      progress.stop();
    }
  });
  return server;
}

function progressOf(tool: string, { mcpReq }: ServerContext): Progress {
  const send: ProgressNotificationsOptions['send'] = ({ method, params }) =>
    void mcpReq.notify({ method, params }).catch(() => {});
  return createProgressNotifications({ token: mcpReq._meta?.progressToken, tool, send });
}

/** The call is cancelled when the client cancels the request or disconnects. */
function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  const connection = http?.req?.signal;
  return connection ? AbortSignal.any([mcpReq.signal, connection]) : mcpReq.signal;
}
