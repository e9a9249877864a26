import { isChildId, type Principal, sessionNotFound, toSessionId } from '../../core/sessions/session-name.ts';
import type { ClientElicitation } from '../elicitation.ts';
import type { McpApp } from '../mcp-app.ts';
import { createMcpServer, type SessionLike } from '../mcp-server.ts';
import { asksForInstructions } from './read-request-body.ts';

/** A session that a request may use. */
export interface HttpSession<S> {
  /** The caller's name for the session. */
  readonly name: string;
  /** Called for every call, because a session that was idle for long may have been ended and made again. */
  get(): S;
  end(): Promise<void>;
}

export type HttpSessions<S> = ReturnType<typeof createHttpSessions<S & SessionLike>>;

/** The sessions of one caller by name, and the MCP server for each of them. */
export function createHttpSessions<S extends SessionLike>(
  app: McpApp<S>,
  principal: Principal,
  elicitation?: ClientElicitation,
) {
  return {
    /** Throws `E_NOT_FOUND` for an unknown child session: a caller never falls back to a session with more rights. */
    async open(name: string): Promise<HttpSession<S>> {
      const id = toSessionId(principal, name);
      if (isChildId(id)) await (app.sessions.mustHaveChild ?? refuseChild)(id);
      return { name, get: () => app.sessions.get(id), end: () => app.sessions.end(id) };
    },
    async createServer({ get }: HttpSession<S>, body: unknown) {
      const instructions = asksForInstructions(body) ? await app.instructions?.(get()) : undefined;
      return createMcpServer(app.toolbox, get, { elicitation, instructions });
    },
  };
}

/** Used where the app has no child sessions. */
async function refuseChild(id: string): Promise<never> {
  throw sessionNotFound(id);
}
