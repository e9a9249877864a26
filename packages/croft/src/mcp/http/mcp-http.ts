import { AppError } from '@croft/protocol';
import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpRequestContext,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../core/sessions/session-name.ts';
import type { ClientElicitation } from '../elicitation.ts';
import type { McpApp } from '../mcp-app.ts';
import type { SessionLike } from '../mcp-server.ts';
import { readSessionName } from '../read-session-name.ts';
import { type ConnectionLimit, createConnectionLimit } from './connection-limit.ts';
import { createHttpSessions, type HttpSession } from './http-sessions.ts';
import { createProtocol2025Connections } from './protocol-2025-connections.ts';
import { isHandshake, readJson } from './read-request-body.ts';
import { refuseSession } from './session-refusals.ts';

export interface McpHttpOptions {
  readonly maxBodyBytes: number;
  /**
   * How clients ask their person for approvals. Without it, this server uses a key of its own, which no other server
   * knows.
   */
  readonly elicitation?: ClientElicitation | undefined;
  /** The most connections, if `connectionLimit` is not given. 5000 by default. */
  readonly maxConnections?: number | undefined;
  /** A limit on connections that is shared with other faces. Without it, this face has a limit of its own. */
  readonly connectionLimit?: ConnectionLimit | undefined;
  /** Connections of an earlier server that this one replaces, and the reason that their clients are given. */
  readonly ended?: { readonly ids: ReadonlySet<string>; readonly reason: string } | undefined;
  onError(error: Error): void;
}

export type McpHttp = ReturnType<typeof createMcpHttp>;

/**
 * MCP over HTTP for both protocols. Clients of 2025 do a handshake and keep a connection by `Mcp-Session-Id`; clients
 * of 2026 send independent requests. Either way the session belongs to the app, by name, and not to the connection. A
 * session name that cannot be used is refused and never ignored: that session may have fewer rights than any other.
 */
export function createMcpHttp<S extends SessionLike>(app: McpApp<S>, principal: Principal, options: McpHttpOptions) {
  const { maxBodyBytes, onError, elicitation, maxConnections = 5000 } = options;
  const { connectionLimit = createConnectionLimit(maxConnections) } = options;
  const sessions = createHttpSessions(app, principal, elicitation);
  const connections = createProtocol2025Connections({
    toolbox: app.toolbox,
    sessions,
    connectionLimit,
    maxBodyBytes,
    ended: options.ended,
  });
  const opened = new WeakMap<Request, { readonly session: HttpSession<S>; readonly body: unknown }>();
  const modern = createMcpHandler(factory, { legacy: 'reject', maxRequestBodySize: maxBodyBytes, onerror: onError });
  const stateless = legacyStatelessFallback(factory, onError, { maxRequestBodySize: maxBodyBytes });

  return {
    async fetch(received: Request): Promise<Response> {
      const { request, parsedBody } = await readJson(received);
      try {
        return await serve(request, parsedBody);
      } catch (thrown) {
        if (AppError.is(thrown)) return refuseSession(thrown, parsedBody);
        throw thrown;
      }
    },
    /** The ids of the connections with 2025 clients. */
    connectionIds: () => connections.ids(),
    async close(): Promise<void> {
      await modern.close();
      await connections.close();
    },
  };

  async function serve(request: Request, parsedBody: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const name = readSessionName(request.headers, parsedBody);
    const taken = id === null ? undefined : connections.takeOnTheSpot({ id, name }, request, parsedBody);
    if (taken) return taken;
    if (!(await isLegacyRequest(request, parsedBody, { maxRequestBodySize: maxBodyBytes }))) {
      // Clients of 2026 have no connection, but may name a session by that header.
      await open(request, parsedBody, readSessionName(request.headers, parsedBody, 'Mcp-Session-Id'));
      return modern.fetch(request, { parsedBody });
    }
    if (id !== null) return connections.resume(id, request, parsedBody);
    if (isHandshake(parsedBody)) return connections.connect(request, parsedBody, name);
    await open(request, parsedBody, name);
    return stateless(request, { parsedBody });
  }

  async function open(request: Request, body: unknown, name = 'default'): Promise<void> {
    opened.set(request, { session: await sessions.open(name), body });
  }

  async function factory({ requestInfo }: McpRequestContext) {
    const known = requestInfo && opened.get(requestInfo);
    if (!known) throw new AppError('E_INTERNAL', 'a request came without its session');
    return sessions.createServer(known.session, known.body);
  }
}
