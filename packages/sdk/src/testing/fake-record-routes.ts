import type { Agent, Sandbox } from '@croft/protocol';
import { type FakeRequest, type FakeRoute, route } from './fake-routes.ts';
import { mustFind } from './fake-state.ts';

const all = <Row>(rows: ReadonlyMap<string, Row>) => [...rows.values()];

/** Workspaces, sandboxes and agents. */
export const recordRoutes: readonly FakeRoute[] = [
  route('GET /healthz', () => ({ status: 'ok', version: 'fake' })),
  route('GET /v1/workspaces', ({ state }) => ({ workspaces: all(state.workspaces).map(({ record }) => record) })),
  route(
    'GET /v1/workspaces/:id',
    ({ state, params }) => mustFind(state.workspaces, params.id ?? '', 'Workspace').record,
  ),
  route('POST /v1/workspaces', async (request) => {
    const { name } = await request.json();
    return request.state.addWorkspace(String(name)).record;
  }),
  route('GET /v1/sandboxes', ({ state }) => ({ sandboxes: all(state.sandboxes) })),
  route('POST /v1/sandboxes', createSandbox),
  route('GET /v1/agents', ({ state }) => ({ agents: all(state.agents) })),
  route('POST /v1/agents', createAgent),
];

async function createSandbox({ state, json }: FakeRequest): Promise<Sandbox> {
  const { name, config } = await json();
  const given = { provider: 'bubblewrap', permissionMode: 'ask', runtimes: ['bash'], network: { mode: 'deny-all' } };
  const sandboxId = state.newId('sb');
  const made = { ...state.recordFields(String(name)), sandboxId, config: { ...given, ...Object(config) } } as Sandbox;
  state.sandboxes.set(sandboxId, made);
  return made;
}

async function createAgent({ state, json }: FakeRequest): Promise<Agent> {
  const { name, config = {} } = await json();
  const agentId = state.newId('agent');
  const made = { ...state.recordFields(String(name)), agentId, config } as Agent;
  state.agents.set(agentId, made);
  return made;
}
