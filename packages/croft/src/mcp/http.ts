import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type Principal, toSessionId } from '../core/session-name.ts';
import type { AskingDoor } from './asking.ts';
import { type ConnectionRoom, createConnectionRoom } from './connection-room.ts';
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
  const connections = new Map<string, WebStandardStreamableHTTPServerTransport>();

  return {
    async fetch(received: Request): Promise<Response> {
      const { request, parsedBody } = await readJson(received);
      if (!(await isLegacyRequest(request, parsedBody, { maxRequestBodySize: maxBodyBytes })))
        return modern.fetch(request, { parsedBody });
      const id = request.headers.get('mcp-session-id');
      if (id !== null) return resume(id, request, parsedBody);
      if (isHandshake(parsedBody)) return (await connect()).handleRequest(request, { parsedBody });
      return stateless(request, { parsedBody });
    },
    async close(): Promise<void> {
      await modern.close();
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };

  async function resume(id: string, request: Request, parsedBody: unknown): Promise<Response> {
    const connection = connections.get(id);
    if (!connection) return sessionNotFound();
    room.use(connection);
    return connection.handleRequest(request, { parsedBody });
  }

  async function connect(): Promise<WebStandardStreamableHTTPServerTransport> {
    const connection = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: (id) => {
        connections.set(id, connection);
        connection.onclose = both(connection.onclose, () => forget(id));
        room.use(connection);
      },
      onsessionclosed: (id) => {
        forget(id);
        return app.sessions.end(toSessionId(principal, id));
      },
    });
    await factory().connect(connection);
    return connection;
  }

  function forget(id: string): void {
    const connection = connections.get(id);
    connections.delete(id);
    if (connection) room.leave(connection);
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
  const named = sessionId ?? mcpReq._meta?.['croft/session'] ?? http?.req?.headers.get('croft-session');
  return sessions.get(toSessionId(principal, named ?? 'default'));
}

interface Read {
  readonly request: Request;
  readonly parsedBody?: unknown;
}

/** A copy of a request to read costs more than reading it: whoever needs the body again gets a new one. */
async function readJson(request: Request): Promise<Read> {
  if (request.method !== 'POST') return { request };
  const body = await request.text().catch(() => '');
  try {
    return { request, parsedBody: JSON.parse(body) };
  } catch {
    // Not JSON: whoever serves it says so in the protocol's own words.
    const { url, method, headers, signal } = request;
    return { request: new Request(url, { method, headers, body, signal }) };
  }
}

function isHandshake(body: unknown): boolean {
  return isInitializeRequest(body) || (Array.isArray(body) && body.some(isInitializeRequest));
}

function sessionNotFound(): Response {
  const error = { code: -32001, message: 'Session not found: shake hands again with initialize' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
