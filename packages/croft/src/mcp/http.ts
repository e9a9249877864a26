import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { App } from '../app.ts';
import type { Session } from '../core/session.ts';
import { sha256 } from '../lib/sha256.ts';
import { createMcpServer } from './server.ts';

export interface McpHttpOptions {
  readonly maxBodyBytes: number;
  onError(error: Error): void;
}

/** Who calls: sessions of different keys never meet. */
export type Principal = string;

export type McpHttp = ReturnType<typeof createMcpHttp>;

const maxConnections = 5000;
const plainName = /^[A-Za-z0-9][\x21-\x7e]{0,127}$/;

/**
 * MCP over HTTP for both eras. Clients of 2025 shake hands and keep a connection by its `Mcp-Session-Id`; those of
 * 2026 send each request on its own. Either way the session is the app's, by name, and not the connection's.
 */
export function createMcpHttp(app: App, principal: Principal, { maxBodyBytes, onError }: McpHttpOptions) {
  const sessionOf = (context: ServerContext) => findSession(app, principal, context);
  const factory = () => createMcpServer(app, sessionOf);
  const modern = createMcpHandler(factory, { legacy: 'reject', maxRequestBodySize: maxBodyBytes, onerror: onError });
  const stateless = legacyStatelessFallback(factory, onError, { maxRequestBodySize: maxBodyBytes });
  // In order of use, so that the first is the one idle longest.
  const connections = new Map<string, WebStandardStreamableHTTPServerTransport>();

  return {
    async fetch(request: Request): Promise<Response> {
      const parsedBody = await readJson(request);
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
    connections.delete(id);
    connections.set(id, connection);
    return connection.handleRequest(request, { parsedBody });
  }

  async function connect(): Promise<WebStandardStreamableHTTPServerTransport> {
    const connection = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: (id) => remember(id, connection),
      onsessionclosed: (id) => {
        connections.delete(id);
        return app.sessions.end(sessionKey(principal, id));
      },
    });
    await createMcpServer(app, sessionOf).connect(connection);
    return connection;
  }

  async function remember(id: string, connection: WebStandardStreamableHTTPServerTransport): Promise<void> {
    connections.set(id, connection);
    if (connections.size <= maxConnections) return;
    for (const [oldest, idle] of connections) {
      connections.delete(oldest);
      return idle.close();
    }
  }
}

/** By `Mcp-Session-Id`, else the caller's own name for it, else the default one of this caller. */
function findSession(app: App, principal: Principal, { sessionId, mcpReq, http }: ServerContext): Session {
  const named = sessionId ?? mcpReq._meta?.['croft/session'] ?? http?.req?.headers.get('croft-session');
  return app.sessions.get(sessionKey(principal, named ?? 'default'));
}

/** Whatever was given as a name is one, and no two names are the same session. */
function sessionKey(principal: Principal, name: unknown): string {
  if (typeof name === 'string' && plainName.test(name)) return `${principal}/${name}`;
  return `${principal}/#${sha256(JSON.stringify(name))}`;
}

async function readJson(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined;
  try {
    return await request.clone().json();
  } catch {
    // Not JSON: whoever serves it says so in the protocol's own words.
    return undefined;
  }
}

function isHandshake(body: unknown): boolean {
  return isInitializeRequest(body) || (Array.isArray(body) && body.some(isInitializeRequest));
}

function sessionNotFound(): Response {
  const error = { code: -32001, message: 'Session not found: shake hands again with initialize' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
