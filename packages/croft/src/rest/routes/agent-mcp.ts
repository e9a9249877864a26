import { sessionHeaders } from '../http/agent-headers.ts';
import { defineRoute, type HttpMethod } from '../platform/route.ts';

const summaries: Partial<Record<HttpMethod, string>> = {
  POST: 'MCP over streamable HTTP, protocol 2025-11-25 and earlier, and 2026-07-28, with the tools of the agent',
  GET: 'The event stream of a 2025 session',
  DELETE: 'Ends a 2025 session',
};

/** The MCP endpoint of an agent. `mcp/http` answers the raw request. */
export const agentMcpRoutes = Object.entries(summaries).map(([method, summary]) =>
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
