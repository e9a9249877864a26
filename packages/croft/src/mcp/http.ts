import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type Principal, toSessionId } from '../core/session-name.ts';
import type { AskingDoor } from './asking.ts';
import { type ConnectionRoom, createConnectionRoom } from './connection-room.ts';
import { createFastLane, type FastLane } from './fast-lane.ts';
import { isHandshake, readJson } from './http-body.ts';
import { takeByHttp } from './http-lane.ts';
import type { McpApp } from './mcp-app.ts';
import { createMcpServer, type SessionLike } from './server.ts';

export interface McpHttpOptions {
  readonly maxBodyBytes: number;
  /** How approvals are put to clients. Left out: as by a server that is the only one of its kind. */
  readonly asking?: AskingDoor | undefined;
  /** Shared with other faces. Left out: one of its own. */
  readonly room?: ConnectionRoom | undefined;
  onError(error: Error): void;
}

export type McpHttp = ReturnType<typeof createMcpHttp>;

const maxConnections = 5000;

/** With a client of 2025. */
interface Connection {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly lane: FastLane;
}

/**
 * MCP over HTTP for both eras. Clients of 2025 shake hands and keep a connection by its `Mcp-Session-Id`; those of
 * 2026 send each request on its own. Either way the session is the app's, by name, and not the connection's.
 */
export function createMcpHttp<S extends SessionLike>(app: McpApp<S>, principal: Principal, options: McpHttpOptions) {
  const { maxBodyBytes, onError, asking, room = createConnectionRoom(maxConnections) } = options;
  const sessionOf = (context: ServerContext) => findSession(app, principal, context);
  const factory = () => createMcpServer(app, sessionOf, asking);
  const modern = createMcpHandler(factory, { legacy: 'reject', maxRequestBodySize: maxBodyBytes, onerror: onError });
  const stateless = legacyStatelessFallback(factory, onError, { maxRequestBodySize: maxBodyBytes });
  const connections = new Map<string, Connection>();

  return {
    async fetch(received: Request): Promise<Response> {
      const { request, parsedBody } = await readJson(received);
      const id = request.headers.get('mcp-session-id');
      const taken = id === null ? undefined : takeOnTheSpot(id, request, parsedBody);
      if (taken) return taken;
      if (!(await isLegacyRequest(request, parsedBody, { maxRequestBodySize: maxBodyBytes })))
        return modern.fetch(request, { parsedBody });
      if (id !== null) return resume(id, request, parsedBody);
      if (isHandshake(parsedBody)) return (await connect()).handleRequest(request, { parsedBody });
      return stateless(request, { parsedBody });
    },
    async close(): Promise<void> {
      await modern.close();
      await Promise.all([...connections.values()].map(({ transport }) => transport.close()));
    },
  };

  async function resume(id: string, request: Request, parsedBody: unknown): Promise<Response> {
    const transport = connections.get(id)?.transport;
    if (!transport) return sessionNotFound();
    room.use(transport);
    return transport.handleRequest(request, { parsedBody });
  }

  function takeOnTheSpot(id: string, request: Request, body: unknown): Promise<Response> | undefined {
    const connection = connections.get(id);
    const taken = connection && takeByHttp(connection.lane, request, body);
    if (taken) room.use(connection.transport);
    return taken;
  }

  async function connect(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: (id) => {
        const session = () => app.sessions.get(toSessionId(principal, id));
        connections.set(id, { transport, lane: createFastLane({ toolbox: app.toolbox, session }) });
        transport.onclose = both(transport.onclose, () => forget(id));
        room.use(transport);
      },
      onsessionclosed: (id) => {
        forget(id);
        return app.sessions.end(toSessionId(principal, id));
      },
    });
    await factory().connect(transport);
    return transport;
  }

  function forget(id: string): void {
    const connection = connections.get(id);
    connections.delete(id);
    if (!connection) return;
    connection.lane.close();
    room.leave(connection.transport);
  }
}

function both(first: (() => void) | undefined, second: () => void): () => void {
  return () => {
    first?.();
    second();
  };
}

/** By `Mcp-Session-Id`, else the caller's own name for it, else the default one of this caller. */
function findSession<S>({ sessions }: McpApp<S>, principal: Principal, { sessionId, mcpReq, http }: ServerContext): S {
  const headers = http?.req?.headers;
  // Clients of 2026 have no connection, but may well say a name by this header.
  const own = sessionId ?? headers?.get('mcp-session-id');
  const named = own ?? mcpReq._meta?.['croft/session'] ?? headers?.get('croft-session');
  return sessions.get(toSessionId(principal, named ?? 'default'));
}

function sessionNotFound(): Response {
  const error = { code: -32001, message: 'Session not found: shake hands again with initialize' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
