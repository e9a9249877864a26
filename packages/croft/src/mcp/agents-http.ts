import type { Agents } from '../app/agents.ts';
import type { Asking } from './asking.ts';
import { type ConnectionRoom, createConnectionRoom } from './connection-room.ts';
import { createMcpHttp, type McpHttp, type McpHttpOptions } from './http.ts';

export interface AgentRequest {
  readonly accountId: string;
  readonly agentId: string;
  /** Whose key it came with. */
  readonly principal: string;
  /** Whether that key may decide approvals. If not, neither may a person that its client says it has. */
  readonly mayApprove: boolean;
}

export interface AgentsMcpOptions extends McpHttpOptions {
  readonly asking: Asking;
}

interface Face {
  readonly accountId: string;
  readonly mark: string;
  readonly http: McpHttp;
  /** Takes in what was remembered since. */
  refresh(): Promise<void>;
}

/** Those that nobody uses are let go of when there are this many: of one account, and of all. */
const maxOwnFaces = 500;
const maxFaces = 10_000;
/** Of one account, by clients of 2025. */
const maxConnections = 1000;
/** What was remembered is with a client that connects so much later. */
const promptMs = 2000;

/** MCP for the agents of accounts: one face for each agent and key, made anew when what the agent has was changed. */
export function createAgentsMcp(agents: Agents, options: AgentsMcpOptions) {
  // In order of use, so that the first is the one idle longest.
  const faces = new Map<string, Face>();
  const rooms = new Map<string, ConnectionRoom>();

  return {
    async fetch(request: AgentRequest, http: Request): Promise<Response> {
      const face = await find(request);
      await face.refresh();
      return face.http.fetch(http);
    },
    async close(): Promise<void> {
      await Promise.all([...faces.values()].map(({ http }) => http.close()));
      faces.clear();
    },
  };

  async function find(request: AgentRequest): Promise<Face> {
    const { accountId, agentId, principal, mayApprove } = request;
    const key = JSON.stringify([accountId, agentId, principal, mayApprove]);
    const mark = await agents.markOf(accountId, agentId);
    const known = faces.get(key);
    const face = known?.mark === mark ? known : create(request, mark);
    faces.delete(key);
    faces.set(key, face);
    if (known === face) return face;
    void known?.http.close();
    // Its own first: no account takes the place of another.
    forgetOldest(
      [...faces].filter(([, of]) => of.accountId === accountId),
      maxOwnFaces,
    );
    forgetOldest([...faces], maxFaces);
    return face;
  }

  function forgetOldest(all: readonly [string, Face][], max: number): void {
    for (const [oldest, { http }] of all.slice(0, Math.max(0, all.length - max))) {
      faces.delete(oldest);
      void http.close();
    }
  }

  function create(request: AgentRequest, mark: string): Face {
    const { accountId, agentId, principal, mayApprove } = request;
    const asking = mayApprove ? options.asking : options.asking.distrusting;
    const room = rooms.get(accountId) ?? createConnectionRoom(maxConnections);
    rooms.set(accountId, room);
    let [instructions, refreshedAt] = ['', Number.NEGATIVE_INFINITY];
    const app = {
      get instructions() {
        return instructions;
      },
      toolbox: {
        list: (session: string) => agents.tools({ accountId, agentId }, session),
        call: (tool: string, input: unknown, caller: Omit<Parameters<Agents['call']>[2], 'tool' | 'input'>) =>
          agents.call(accountId, agentId, { ...caller, tool, input }),
        mayAsk: () => true,
      },
      sessions: { get: (id: string) => id, end: (id: string) => agents.endSession(accountId, agentId, id) },
    };
    return {
      accountId,
      mark,
      http: createMcpHttp(app, principal, { ...options, asking, room }),
      async refresh() {
        if (performance.now() - refreshedAt < promptMs) return;
        refreshedAt = performance.now();
        instructions = await agents.prompt(accountId, agentId);
      },
    };
  }
}
