import { AgentSession, AgentSessionList, AgentSessionQuery, Deleted, OpenAgentSession } from '@croft/protocol';
import { parseBySchema } from '../../core/arguments/parse-by-schema.ts';
import { sessionHeaders } from '../http/agent-headers.ts';
import { defineRoute, type HttpMethod } from '../platform/route.ts';

export const agentSessionRoutes = [
  defineRoute({
    method: 'GET',
    path: '/agents/{agentId}/sessions',
    summary: 'Lists the sessions the agent has',
    scopes: ['read', 'call'],
    ofAgents: true,
    query: AgentSessionQuery,
    answer: AgentSessionList,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params, query }) {
      const { rows: sessions, next } = await agents.sessions.list(actor, params.agentId, query);
      return { body: { sessions, next } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/agents/{agentId}/sessions',
    summary: 'Opens a child of a session with equal or narrower limits, in the directory of its parent',
    scopes: ['call'],
    ofAgents: true,
    body: OpenAgentSession,
    status: 201,
    answer: AgentSession,
    failures: ['E_NOT_FOUND', 'E_QUOTA'],
    handle: async ({ agents }, { actor, params, body }) => ({
      body: await agents.sessions.open(actor, params.agentId, parseBySchema(OpenAgentSession, body)),
    }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/agents/{agentId}/sessions/{session}',
    summary: 'Ends a session and every program it started',
    scopes: ['write', 'call'],
    ofAgents: true,
    answer: Deleted,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params }) {
      await agents.sessions.end(actor, params.agentId, params.session);
      return { body: { deleted: true } };
    },
  }),
  ...mcpRoutes(),
];

function mcpRoutes() {
  const summaries: Partial<Record<HttpMethod, string>> = {
    POST: 'MCP over streamable HTTP, protocol 2025-11-25 and earlier, and 2026-07-28, with the tools of the agent',
    GET: 'The event stream of a 2025 session',
    DELETE: 'Ends a 2025 session',
  };
  return Object.entries(summaries).map(([method, summary]) =>
    defineRoute({
      method: method as HttpMethod,
      path: '/agents/{agentId}/mcp',
      summary,
      scopes: ['call'],
      ofAgents: true,
      large: true,
      raw: true,
      forPrograms: true,
      headers: { 'Croft-Session': sessionHeaders['Croft-Session'] },
      failures: ['E_NOT_FOUND'],
      handle: ({ agents }, { actor, params, request }) => agents.mcp(actor, params.agentId, request),
    }),
  );
}
