import { AppError } from '@croft/protocol';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { Registry } from '../../src/core/accounts/ports/registry.ts';
import type { Approvals } from '../../src/core/approvals/approvals.ts';
import { toSessionId } from '../../src/core/sessions/session-name.ts';
import { newId } from '../../src/lib/ids.ts';
import type { AgentApi } from '../../src/rest/platform/agent-api.ts';

interface StandInDependencies {
  readonly registry: Registry;
  readonly records: Records;
  readonly approvals: Approvals;
}

/** The call that seems to run. */
export const runningCall = 'call';

const description = {
  title: 'Test',
  description: 'A tool of a test',
  toolset: 'commands' as const,
  isListed: true,
  access: 'execute' as const,
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object' },
  idempotent: false,
};

/**
 * Agents without sandboxes: `echo` answers its input, `ask` does so after approval, `wait` waits until it is cancelled.
 * Agents, sessions and approvals are real.
 */
export function createStandInAgents({ registry, records, approvals }: StandInDependencies) {
  const ran: unknown[] = [];

  async function mustHave(accountId: string, agentId: string): Promise<void> {
    if (!(await registry.agents.open(accountId, agentId))) throw new AppError('E_NOT_FOUND', 'Agent not found');
  }

  const api: AgentApi = {
    async tools({ accountId }, agentId) {
      await mustHave(accountId, agentId);
      return ['ask', 'echo'].map((name) => ({ name, ...description }));
    },
    async call({ actor: { accountId }, agentId, session, tool, input, approvalId, signal }) {
      await mustHave(accountId, agentId);
      if (tool === 'wait') return wait(signal);
      if (tool !== 'echo' && tool !== 'ask') throw new AppError('E_UNKNOWN_TOOL', `there is no tool named ${tool}`);
      if (tool === 'ask') {
        const own = { session: toSessionId('key_1', session), preview: async () => 'preview' };
        const call = { accountId, agentId, tool, workspace: 'main', input, ...own };
        await approvals.mustBeApproved(call, { approvalId, label: 'rest', waitMs: 0 }, signal);
      }
      await saveSession(accountId, agentId, session);
      ran.push(input);
      return { text: '', structured: { session, input } };
    },
    async ask({ actor: { accountId }, agentId, tool }) {
      await mustHave(accountId, agentId);
      return { outcome: 'runs', reason: 'it is a stand-in', tool };
    },
    async outputOf({ accountId }, agentId, call) {
      await mustHave(accountId, agentId);
      return call === runningCall ? 'printed' : undefined;
    },
    async fence({ accountId }, agentId) {
      await mustHave(accountId, agentId);
      return { agentId, workspaces: [], secrets: [] };
    },
    async prompt({ accountId }, agentId) {
      await mustHave(accountId, agentId);
      return 'Remember the milk.';
    },
    async mcp({ accountId }, agentId, request) {
      await mustHave(accountId, agentId);
      return Response.json({ agentId, method: request.method, body: await request.text() });
    },
    sessions: {
      async list({ accountId }, agentId, page) {
        await mustHave(accountId, agentId);
        const { rows, ...rest } = await records.read((tables) => tables.sessions.list(accountId, agentId, page));
        return { ...rest, rows: rows.map(({ session, parent, usedAt }) => ({ session, parent, usedAt })) };
      },
      async open({ accountId }, agentId, body) {
        await mustHave(accountId, agentId);
        const { parent = 'default' } = body as { parent?: string };
        const [session, usedAt] = [newId('ses'), new Date().toISOString()];
        const row = { accountId, agentId, session, parent, state: '{}', usedAt, version: 1 };
        await records.change(({ sessions }) => sessions.put(row));
        return { session, parent, usedAt };
      },
      async end({ accountId }, agentId, session) {
        await mustHave(accountId, agentId);
        const isThere = await records.change((tables) => tables.sessions.remove(accountId, agentId, session));
        if (!isThere) throw new AppError('E_NOT_FOUND', 'Session not found');
      },
    },
  };
  return { api, ran };

  async function wait(signal: AbortSignal): Promise<never> {
    ran.push('waiting');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ran.push('taken back');
    throw new AppError('E_CANCELLED', 'the caller took the call back');
  }

  async function saveSession(accountId: string, agentId: string, session: string): Promise<void> {
    const usedAt = new Date().toISOString();
    await records.change(async ({ sessions }) => {
      const old = await sessions.get(accountId, agentId, session);
      await sessions.put({ accountId, agentId, session, state: '{}', usedAt, version: (old?.version ?? 0) + 1 });
    });
  }
}
