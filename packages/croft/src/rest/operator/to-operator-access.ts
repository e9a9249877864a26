import type { App } from '../../app/app.ts';
import { createFlagWorkspaceRecords } from '../../app/operator/flag-workspace-records.ts';
import { createFlagWorkspacesAuditTrail } from '../../app/operator/flag-workspaces-audit-trail.ts';
import { toOperatorFence } from '../../app/operator/operator-fence.ts';
import type { LocalApprovals } from '../../app/records/local-approvals.ts';
import { flagsAgentId } from '../../core/accounts/access/operator-ids.ts';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { Scope } from '../../core/accounts/ports/registry.ts';
import type { FileAccess } from '../../core/content/changes/file-access.ts';
import { toSessionId } from '../../core/sessions/session-name.ts';
import { needsApproval } from '../../core/workspace/permission.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { FlagWorkspaces } from '../flag-workspaces/flag-workspaces.ts';
import type { AgentApi } from '../platform/agent-api.ts';
import type { OperatorAccess, RestPlatform } from '../platform/rest-platform.ts';

interface OperatorAccessOptions {
  readonly token: string;
  readonly app: App;
  readonly local: LocalApprovals;
  readonly files: Pick<FlagWorkspaces, 'feeds'>;
}

/**
 * Shows the workspaces that flags name as one account, so that the same routes serve them. For keys, secrets and
 * runners, it is an account that has none.
 */
export function toOperatorAccess(accounts: RestPlatform, options: OperatorAccessOptions): OperatorAccess {
  const { app, token, local, files } = options;
  const { events, audit, verify } = createFlagWorkspacesAuditTrail(local, app.journal);
  const of = (id: string): Workspace => {
    const workspace = app.workspaces.list().find(({ name }) => name === id);
    if (!workspace) throw notFound('Workspace');
    return workspace;
  };
  const platform: RestPlatform = {
    ...accounts,
    ...{ records: local.records, approvals: local.approvalInbox, events, forks: undefined },
    registry: { ...accounts.registry, ...createFlagWorkspaceRecords(app), audit },
    agents: toAgentApi(app),
    files: { ...accounts.files, feeds: files.feeds, of: async (_, id) => toFileAccess(of(id)) },
    histories: { of: async (_, id) => of(id).history },
    audit: { verify, verifyShared: verify, head: () => undefined },
  };
  return { token, tokenScopes: toTokenScopes(app), platform };
}

function toFileAccess(workspace: Workspace): FileAccess {
  return { ...workspace, search: workspace };
}

/**
 * Returns the scopes of the server's token. If a person has to approve each write, the token may not write over REST
 * either.
 */
function toTokenScopes({ permission }: Pick<App, 'permission'>): Scope[] {
  return ['read', 'call', ...(needsApproval(permission, { access: 'write' }) ? [] : (['write'] as const))];
}

function toAgentApi(app: App): AgentApi {
  const { toolbox, sessions } = app;
  const fenceOf = () => toOperatorFence(app);
  const refuse = (): never => {
    throw notFound('Session');
  };
  const open = (label: string, session: string) => sessions.get(toSessionId(label, session));
  return {
    tools: async (actor, agentId, session) => {
      mustBeFlags(agentId);
      return actor.scopes.some((scope) => scope === '*' || scope === 'call')
        ? toolbox.list(open(actor.label, session))
        : toolbox.common();
    },
    async call({ actor, agentId, session, tool, input, approvalId, signal, onOutput }) {
      mustBeFlags(agentId);
      const own = open(actor.label, session);
      const asker = { label: actor.label, approvalId, waitMs: 0 };
      return toolbox.call(tool, input, { session: own, sessionSignal: own.signal, signal, asker, onOutput });
    },
    async ask({ actor, agentId, session, tool, input, signal }) {
      mustBeFlags(agentId);
      const own = open(actor.label, session);
      return toolbox.ask(tool, input, { session: own, signal, asker: { label: actor.label, waitMs: 0 } });
    },
    async outputOf(_, agentId, call) {
      mustBeFlags(agentId);
      return toolbox.outputOf(call);
    },
    async fence(_, agentId) {
      mustBeFlags(agentId);
      return fenceOf();
    },
    prompt: refuse,
    mcp: refuse,
    sessions: { list: refuse, open: refuse, end: refuse },
  };
}

function mustBeFlags(agentId: string): void {
  if (agentId !== flagsAgentId) throw notFound('Agent');
}
