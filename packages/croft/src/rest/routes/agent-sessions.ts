import { AgentSession, AgentSessionList, AgentSessionQuery, Deleted, OpenAgentSession } from '@croft/protocol';
import { parseBySchema } from '../../core/arguments/parse-by-schema.ts';
import { defineRoute } from '../platform/route.ts';

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
];
