import type { AgentFence } from '@croft/protocol';
import { needsApproval } from './fake-approvals.ts';
import { type FakeState, mustFind } from './fake-state.ts';
import { type FakeTool, fakeTools } from './fake-tools.ts';

/** Says what an agent of the fake may do: its permission mode alone decides. */
export function describeFence(state: FakeState, id: string): AgentFence {
  const { agentId, config } = mustFind(state.agents, id, 'Agent');
  const { permissionMode } = mustFind(state.sandboxes, config.sandbox ?? '', 'Sandbox').config;
  const verdictOf = (access: FakeTool['access']) => {
    const tool = fakeTools.find((one) => one.access === access);
    const asks = tool !== undefined && needsApproval({ mode: permissionMode, tool });
    return asks
      ? { verdict: 'asks' as const, reason: 'a person decides' }
      : { verdict: 'runs' as const, reason: 'nobody is asked' };
  };
  const workspaces = (config.workspaces ?? []).map(({ name, workspaceId }) => ({
    ...{ name, workspaceId, access: 'read-write' as const, permissionMode },
    ...{ read: verdictOf('read'), search: verdictOf('read'), write: verdictOf('write'), run: verdictOf('execute') },
    ...{ tools: [], secrets: [], allowControl: [] },
  }));
  return { agentId, workspaces, secrets: [] };
}
