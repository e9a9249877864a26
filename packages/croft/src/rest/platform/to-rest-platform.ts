import type { ServerPlatform as Parts } from '../../app/platform.ts';
import type { Actor, RunnerToken, Scope } from '../../core/accounts/ports/registry.ts';
import { toSessionId } from '../../core/sessions/session-name.ts';
import type { AgentApi } from './agent-api.ts';
import type { RestPlatform } from './rest-platform.ts';

/** MCP of agents over HTTP. `mcp` implements it; this part may not import `mcp`. */
interface AgentsMcp {
  fetch(
    agent: {
      readonly accountId: string;
      readonly agentId: string;
      readonly asOf: number | undefined;
      readonly sessionMoves: number | undefined;
      readonly principal: string;
      readonly mayApprove: boolean;
    },
    request: Request,
  ): Promise<Response>;
}

/** Makes the port of the REST API from the parts of the platform. */
export function toRestPlatform(parts: Parts, mcp: AgentsMcp, adminToken: string): RestPlatform {
  const { records, vault, registry, registryOn, approvalInbox, files, histories, forks, removeFiles, terminals } =
    parts;
  const { audit, events, sessions, openSandboxes, cluster } = parts;
  const viewRunners = async (tokens: readonly RunnerToken[]) =>
    cluster?.viewRunners(tokens) ?? tokens.map(parts.fleet.view);
  const own = {
    adminToken,
    viewRunners,
    cluster,
    records,
    vault,
    registry,
    registryOn,
    files,
    histories,
    forks,
    removeFiles,
    terminals,
    audit,
    events,
    sessions,
    openSandboxes,
    now: () => parts.now().getTime(),
  };
  return { ...own, approvals: approvalInbox, agents: toAgentApi(parts, mcp) };
}

function toAgentApi({ agents }: Parts, mcp: AgentsMcp): AgentApi {
  return {
    tools(actor, agentId, session) {
      const id = toSessionId(principalOf(actor), session);
      return agents.tools({ accountId: actor.accountId, agentId }, id, hasScope(actor, 'call'));
    },
    call({ actor, agentId, session, approvalId, ...given }) {
      const asker = { label: actor.label, approvalId, waitMs: 0 };
      const id = toSessionId(principalOf(actor), session);
      const { asOf, sessionMoves } = actor;
      return agents.call(actor.accountId, agentId, { ...given, session: id, asOf, sessionMoves, asker });
    },
    ask({ actor, agentId, session, tool, input, signal }) {
      const id = toSessionId(principalOf(actor), session);
      const asker = { label: actor.label, waitMs: 0 };
      return agents.ask(actor.accountId, agentId, { tool, input, session: id, asOf: actor.asOf, signal, asker });
    },
    outputOf: (actor, agentId, call) => agents.outputOf({ accountId: actor.accountId, agentId }, call),
    fence: (actor, agentId, session) =>
      agents.fence({ accountId: actor.accountId, agentId }, toSessionId(principalOf(actor), session)),
    prompt: (actor, agentId, session) =>
      agents.prompt(actor.accountId, agentId, toSessionId(principalOf(actor), session)),
    mcp: (actor, agentId, request) =>
      mcp.fetch(
        {
          ...{ accountId: actor.accountId, agentId, asOf: actor.asOf, sessionMoves: actor.sessionMoves },
          ...{ principal: principalOf(actor), mayApprove: hasScope(actor, 'approve') },
        },
        request,
      ),
    sessions: {
      async list(actor, agentId, page) {
        const { rows, next } = await agents.sessions.list({ accountId: actor.accountId, agentId }, page);
        const principal = principalOf(actor);
        const seen = rows.filter(({ session }) => seesOthers(actor) || session.startsWith(`${principal}/`));
        return { rows: seen.map((row) => withOwnNames(row, principal)), next };
      },
      open: (actor, agentId, body) =>
        agents.sessions.open({ accountId: actor.accountId, agentId }, body, (name) =>
          toSessionId(principalOf(actor), name),
        ),
      end: (actor, agentId, session) =>
        agents.endSession(
          actor.accountId,
          agentId,
          toForeignId(actor, session) ?? toSessionId(principalOf(actor), session),
        ),
    },
  };
}

/** The key that owns the caller's sessions. No two keys share a session. */
function principalOf({ label }: Actor): string {
  return label.replace(/^key /, '');
}

/** Whether the caller may see sessions of other keys: their names contain the ids of those keys. */
function seesOthers(actor: Actor): boolean {
  return actor.agents === undefined && (hasScope(actor, 'read') || hasScope(actor, 'write'));
}

/** Shows the caller's sessions under the names it gave them. Sessions of other keys keep the key id as a prefix. */
function withOwnNames<View extends { session: string; parent?: string | undefined }>(
  view: View,
  principal: string,
): View {
  const shorten = (id: string) => (id.startsWith(`${principal}/`) ? id.slice(principal.length + 1) : id);
  return {
    ...view,
    session: shorten(view.session),
    ...(view.parent !== undefined && { parent: shorten(view.parent) }),
  };
}

/** The id of another key's session, as a list shows it. Nothing for a caller that may only use its own sessions. */
function toForeignId(actor: Actor, session: string): string | undefined {
  return hasScope(actor, 'write') && seesOthers(actor) && /^(?:key_[0-9a-f]{24}|admin)\//.test(session)
    ? session
    : undefined;
}

function hasScope({ scopes }: Actor, scope: Scope): boolean {
  return scopes.includes('*') || scopes.includes(scope);
}
