import { randomUUID } from 'node:crypto';
import { AppError } from '@croft/protocol';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { createFastLane, type FastLane } from '../fast-lane.ts';
import type { McpApp } from '../mcp-app.ts';
import type { SessionLike } from '../mcp-server.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { answerOnFastLane } from './http-fast-lane.ts';
import type { HttpSession, HttpSessions } from './http-sessions.ts';
import { unknownConnection } from './session-refusals.ts';

interface ConnectionsOptions<S> {
  readonly toolbox: McpApp<S>['toolbox'];
  readonly sessions: HttpSessions<S>;
  readonly connectionLimit: ConnectionLimit;
  readonly maxBodyBytes: number;
  /** Connections of the face that this one replaces, and why they were ended. */
  readonly ended?: { readonly ids: ReadonlySet<string>; readonly reason: string } | undefined;
}

/** A connection with a client of protocol 2025. */
interface Connection {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly lane: FastLane;
  /** The name of the session, which stays the same from the handshake until the connection ends. */
  readonly session: string;
}

/** The connections of clients of protocol 2025, by `Mcp-Session-Id`. */
export function createProtocol2025Connections<S extends SessionLike>(options: ConnectionsOptions<S>) {
  const { toolbox, sessions, connectionLimit, maxBodyBytes, ended } = options;
  const connections = new Map<string, Connection>();

  return {
    /** Tries the fast lane. Throws `E_INVALID_INPUT` if the request names another session than the handshake did. */
    takeOnTheSpot({ id, name }: { id: string; name: string | undefined }, request: Request, body: unknown) {
      const connection = connections.get(id);
      if (!connection) return undefined;
      mustBeOf(connection, name);
      const taken = answerOnFastLane(connection.lane, request, body, () => resume(id, request, body));
      if (taken) connectionLimit.use(connection.transport);
      return taken;
    },
    resume,
    ids: (): string[] => [...connections.keys()],
    /** Without a name, the connection has a session of its own, which ends with the connection. */
    async connect(request: Request, parsedBody: unknown, name: string | undefined): Promise<Response> {
      const id = randomUUID();
      const session = await sessions.open(name ?? id);
      const transport = createTransport(id, session, name === undefined);
      await (await sessions.createServer(session, parsedBody)).connect(transport);
      return transport.handleRequest(request, { parsedBody });
    },
    async close(): Promise<void> {
      await Promise.all([...connections.values()].map(({ transport }) => transport.close()));
    },
  };

  async function resume(id: string, request: Request, parsedBody: unknown): Promise<Response> {
    const transport = connections.get(id)?.transport;
    if (!transport) return unknownConnection(ended?.ids.has(id) ? ended.reason : undefined);
    connectionLimit.use(transport);
    return transport.handleRequest(request, { parsedBody });
  }

  function createTransport(id: string, session: HttpSession<S>, isOwn: boolean) {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: () => keep(id, { transport, session }),
      onsessionclosed: async () => {
        forget(id);
        if (isOwn) await session.end();
      },
    });
    return transport;
  }

  function keep(id: string, { transport, session }: Pick<Connection, 'transport'> & { session: HttpSession<S> }): void {
    const lane = createFastLane({ toolbox, session: session.get });
    connections.set(id, { transport, lane, session: session.name });
    transport.onclose = both(transport.onclose, () => forget(id));
    connectionLimit.use(transport);
  }

  function forget(id: string): void {
    const connection = connections.get(id);
    connections.delete(id);
    if (!connection) return;
    connection.lane.close();
    connectionLimit.leave(connection.transport);
  }
}

function mustBeOf({ session }: Connection, name: string | undefined): void {
  if (name === undefined || name === session) return;
  const advice = 'send a new initialize to work in another session';
  throw new AppError('E_INVALID_INPUT', `this connection belongs to the session ${session}, not ${name}: ${advice}`);
}

function both(first: (() => void) | undefined, second: () => void): () => void {
  return () => {
    first?.();
    second();
  };
}
