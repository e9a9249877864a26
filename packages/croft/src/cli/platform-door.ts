import type { Platform as Parts } from '../app/platform.ts';
import type { Actor, Scope } from '../core/accounts/registry.ts';
import { toSessionId } from '../core/session-name.ts';
import type { createAgentsMcp } from '../mcp/agents-http.ts';
import type { AgentDoor } from '../rest/agents-door.ts';
import type { Platform } from '../rest/platform.ts';

/** What the REST face serves of a platform. */
export function toPlatform(parts: Parts, mcp: ReturnType<typeof createAgentsMcp>, adminToken: string): Platform {
  const { records, vault, registry, registryOn, desk, files, histories, forks, removeFiles, terminals } = parts;
  const viewRunner = parts.fleet.view;
  const own = {
    adminToken,
    viewRunner,
    records,
    vault,
    registry,
    registryOn,
    files,
    histories,
    forks,
    removeFiles,
    terminals,
  };
  return { ...own, approvals: desk, agents: toDoor(parts, mcp) };
}

function toDoor({ agents }: Parts, mcp: ReturnType<typeof createAgentsMcp>): AgentDoor {
  return {
    tools(actor, agentId, session) {
      const id = toSessionId(principalOf(actor), session);
      return agents.tools({ accountId: actor.accountId, agentId }, id, hasScope(actor, 'call'));
    },
    call({ actor, agentId, session, tool, input, approvalId, signal }) {
      const asker = { label: actor.label, approvalId, waitMs: 0 };
      const id = toSessionId(principalOf(actor), session);
      return agents.call(actor.accountId, agentId, { tool, input, session: id, signal, asker });
    },
    prompt: (actor, agentId) => agents.prompt(actor.accountId, agentId),
    mcp: (actor, agentId, request) =>
      mcp.fetch(
        { accountId: actor.accountId, agentId, principal: principalOf(actor), mayApprove: hasScope(actor, 'approve') },
        request,
      ),
    sessions: {
      async list(actor, agentId, page) {
        const { rows, next } = await agents.sessions.list({ accountId: actor.accountId, agentId }, page);
        return { rows: rows.map((row) => withOwnNames(row, principalOf(actor))), next };
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

/** Whose sessions these are: no two keys share one. */
function principalOf({ label }: Actor): string {
  return label.replace(/^key /, '');
}

/** Sessions of the caller by the names it gave them; those of other keys with the key before it. */
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

/** As a list shows a session of another key. Who may only call has none but its own. */
function toForeignId(actor: Actor, session: string): string | undefined {
  return hasScope(actor, 'write') && /^(?:key_[0-9a-f]{24}|admin)\//.test(session) ? session : undefined;
}

function hasScope({ scopes }: Actor, scope: Scope): boolean {
  return scopes.includes('*') || scopes.includes(scope);
}
