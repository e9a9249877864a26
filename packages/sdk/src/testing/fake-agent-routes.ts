import { z } from 'zod';
import { CroftError } from '../errors/croft-error.ts';
import {
  type AskedCall,
  claimApproval,
  decide,
  type FakeDecision,
  needsApproval,
  requestApproval,
} from './fake-approvals.ts';
import { describeFence } from './fake-fence.ts';
import { type FakeRequest, type FakeRoute, route } from './fake-routes.ts';
import { type FakeWorkspace, mustFind, recordChange } from './fake-state.ts';
import { fakeTools } from './fake-tools.ts';
import { serveEvents } from './serve-fake-events.ts';

const agent = '/v1/agents/:agentId';

/** Calls of agents, and the people who watch them. */
export const agentRoutes: readonly FakeRoute[] = [
  route(`GET ${agent}/tools`, () => ({ tools: fakeTools.map(describe) })),
  route(`POST ${agent}/tools/:name`, call),
  route(`POST ${agent}/tools/:name/ask`, async (request) => {
    const { asked } = await readCall(request);
    const common = { tool: asked.tool.name, workspace: asked.workspace };
    if (!needsApproval(asked)) return { ...common, outcome: 'runs', reason: 'nobody is asked' };
    return { ...common, outcome: 'asks', reason: 'a person decides', approval: requestApproval(request.state, asked) };
  }),
  route(`GET ${agent}/fence`, ({ state, params }) => describeFence(state, params.agentId ?? '')),
  route(`GET ${agent}/prompt`, () => ({ prompt: '' })),
  route(`DELETE ${agent}/sessions/:session`, ({ state, params }) => {
    for (const shell of state.shells.values())
      if (shell.session === params.session) {
        shell.stop.abort();
        state.shells.delete(shell.id);
      }
    return { deleted: true };
  }),
  route('GET /v1/approvals', ({ state, query }) => {
    const wanted = query.get('state');
    const isWanted = (one: { readonly state: string }) => wanted === null || one.state === wanted;
    return { approvals: [...state.approvals.values()].filter(isWanted).reverse() };
  }),
  route('GET /v1/approvals/:id', ({ state, params }) => ({
    approval: mustFind(state.approvals, params.id ?? '', 'Approval'),
  })),
  route('POST /v1/approvals/:id', async ({ state, params, json }) => ({
    approval: decide(state, params.id ?? '', (await json()) as unknown as FakeDecision),
  })),
  route('GET /v1/audit', ({ state }) => ({ audit: state.audit, position: String(state.audit.length) })),
  route('GET /v1/events', serveEvents),
];

function describe({ name, description, access, input }: (typeof fakeTools)[number]) {
  const inputSchema = z.toJSONSchema(input, { io: 'input' });
  const common = { toolset: 'fake', isListed: true, idempotent: access === 'read', outputSchema: { type: 'object' } };
  return { name, title: name, description, access, inputSchema, ...common };
}

async function call(request: FakeRequest): Promise<unknown> {
  const { state, headers, commands, signal } = request;
  const { asked, workspace } = await readCall(request);
  const waiting = needsApproval(asked) ? claimApproval(state, asked, headers.get('croft-approval')) : undefined;
  if (waiting) return Response.json({ approval: waiting }, { status: 202 });
  const { tool, input, session } = asked;
  const label = { tool: tool.name, title: '', session };
  state.calls.push({ tool: tool.name, input: Object(input), session });
  try {
    const run = { state, commands, workspace, name: asked.workspace, session, signal };
    return await recordChange(state, workspace, label, async () => tool.run(run, input));
  } finally {
    state.log('call.ended', tool.name, { session });
  }
}

async function readCall(request: FakeRequest): Promise<{ asked: AskedCall; workspace: FakeWorkspace }> {
  const { state, params, headers } = request;
  const { workspace: name, ...input } = await request.json();
  const { agentId, config } = mustFind(state.agents, params.agentId ?? '', 'Agent');
  const reference = config.workspaces?.find((one) => name === undefined || one.name === name);
  if (!reference) throw new CroftError('E_UNKNOWN_WORKSPACE', `unknown workspace: ${name}`);
  const tool = fakeTools.find((one) => one.name === params.name);
  if (!tool) throw new CroftError('E_UNKNOWN_TOOL', `there is no tool named ${params.name}`);
  const given = tool.input.safeParse(input);
  if (!given.success) throw new CroftError('E_INVALID_INPUT', z.prettifyError(given.error));
  const { permissionMode: mode } = mustFind(state.sandboxes, config.sandbox ?? '', 'Sandbox').config;
  const session = headers.get('croft-session') ?? 'default';
  const asked = { agentId, session, workspace: reference.name, tool, input: given.data, mode };
  return { asked, workspace: mustFind(state.workspaces, reference.workspaceId, 'Workspace') };
}
