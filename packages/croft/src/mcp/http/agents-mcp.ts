import type { AgentStanding, Agents } from '../../app/agents/agents.ts';
import { findNarrowing } from '../../core/accounts/surface/find-narrowing.ts';
import type { Elicitation } from '../elicitation.ts';
import { type ConnectionLimit, createConnectionLimit } from './connection-limit.ts';
import { createMcpHttp, type McpHttp, type McpHttpOptions } from './mcp-http.ts';

interface AgentRequest {
  readonly accountId: string;
  readonly agentId: string;
  /** The key that the request came with. */
  readonly principal: string;
  /** Whether that key may decide approvals. If not, the person at its client may not decide them either. */
  readonly mayApprove: boolean;
  /** See `Actor.asOf`. */
  readonly asOf?: number | undefined;
  readonly sessionMoves?: number | undefined;
}

interface AgentsMcpOptions extends McpHttpOptions {
  readonly elicitation: Elicitation;
}

interface AgentFace {
  readonly accountId: string;
  /** The access of the agent at its last request. */
  standing: AgentStanding;
  /** The latest counts with which a request of this face was authenticated. No call needs older ones. */
  counts: Pick<AgentRequest, 'asOf' | 'sessionMoves'>;
  readonly http: McpHttp;
}

/** Limits on kept faces, for one account and for all. Beyond a limit, the face that was unused longest is closed. */
const maxOwnFaces = 500;
const maxFaces = 10_000;

/**
 * MCP over HTTP for the agents of accounts. Each agent and key has its own face, which is replaced when the agent loses
 * a grant.
 */
export function createAgentsMcp(agents: Agents, options: AgentsMcpOptions) {
  // In order of use: the first was unused longest.
  const faces = new Map<string, AgentFace>();
  const connectionLimits = new Map<string, ConnectionLimit>();

  return {
    async fetch(request: AgentRequest, http: Request): Promise<Response> {
      const face = await find(request);
      return face.http.fetch(http);
    },
    async close(): Promise<void> {
      await Promise.all([...faces.values()].map(({ http }) => http.close()));
      faces.clear();
    },
  };

  async function find(request: AgentRequest): Promise<AgentFace> {
    const { accountId, agentId, principal, mayApprove } = request;
    const key = JSON.stringify([accountId, agentId, principal, mayApprove]);
    const standing = await agents.standingOf(accountId, agentId, request.asOf);
    const known = faces.get(key);
    // The same grants cannot have been narrowed.
    const lost =
      known && !isSame(known.standing, standing) ? findNarrowing(known.standing.granted, standing.granted) : [];
    const face = known && lost.length === 0 ? known : create(request, standing, endedBy(known, lost));
    face.standing = standing;
    face.counts = laterCounts(face.counts, request);
    faces.delete(key);
    faces.set(key, face);
    if (known === face) return face;
    void known?.http.close();
    // Removes faces of the same account first, so that no account displaces another.
    const own = [...faces].filter(([, of]) => of.accountId === accountId);
    forgetOldest(own, maxOwnFaces);
    forgetOldest([...faces], maxFaces);
    return face;
  }

  function forgetOldest(all: readonly [string, AgentFace][], max: number): void {
    for (const [oldest, { http }] of all.slice(0, Math.max(0, all.length - max))) {
      faces.delete(oldest);
      void http.close();
    }
  }

  function create(request: AgentRequest, standing: AgentStanding, ended: McpHttpOptions['ended']): AgentFace {
    const { accountId, agentId, principal, mayApprove } = request;
    const elicitation = mayApprove ? options.elicitation : options.elicitation.distrusting;
    const connectionLimit = connectionLimits.get(accountId) ?? createConnectionLimit(options.maxConnections ?? 1000);
    connectionLimits.set(accountId, connectionLimit);
    const app = {
      instructions: (session: string) => agents.prompt(accountId, agentId, session),
      toolbox: {
        list: (session: string) => agents.tools({ accountId, agentId }, session),
        call: (tool: string, input: unknown, caller: Omit<Parameters<Agents['call']>[2], 'tool' | 'input'>) =>
          agents.call(accountId, agentId, { ...caller, ...face.counts, tool, input }),
        mayAsk: (tool: string) => face.standing.mayAsk(tool),
      },
      sessions: {
        get: (id: string) => id,
        end: (id: string) => agents.endSession(accountId, agentId, id),
        mustHaveChild: (id: string) => agents.mustHaveSession({ accountId, agentId }, id),
      },
    };
    const http = createMcpHttp(app, principal, { ...options, elicitation, connectionLimit, ended });
    const face: AgentFace = { accountId, standing, counts: request, http };
    return face;
  }
}

/** The counts only grow. Requests may have read them in another order than they arrive here. */
function laterCounts(known: AgentFace['counts'], { asOf, sessionMoves }: AgentRequest): AgentFace['counts'] {
  const later = (one: number | undefined, other: number | undefined) =>
    one === undefined || other === undefined ? other : Math.max(one, other);
  return { asOf: later(known.asOf, asOf), sessionMoves: later(known.sessionMoves, sessionMoves) };
}

function isSame(one: AgentStanding, other: AgentStanding): boolean {
  return one.granted === other.granted;
}

/** The connections of a face that was closed, so that clients that come back learn the reason. */
function endedBy(face: AgentFace | undefined, lost: readonly string[]): McpHttpOptions['ended'] {
  return face && { ids: new Set(face.http.connectionIds()), reason: lost.join('; ') };
}
