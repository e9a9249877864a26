import { createAccounts } from './accounts.ts';
import { parseAgentConfig } from './agent-config.ts';
import { createAuditLog } from './audit-log.ts';
import { createCollection } from './collection.ts';
import type { RegistryContext } from './context.ts';
import { createKeys } from './keys.ts';
import { spellPatch } from './network-config.ts';
import { oweRemovals } from './owed-removals.ts';
import type { JsonObject } from './plain-json.ts';
import { createReferences } from './references.ts';
import type { AgentConfig, Collection, Registry, SandboxConfig, WorkspaceConfig } from './registry.ts';
import { createRunnerTokens } from './runner-tokens.ts';
import { createSandboxParser } from './sandbox-config.ts';
import { createSealedRows } from './sealed-rows.ts';
import { createSecretStore } from './secret-store.ts';
import { createWorkspaceParser } from './workspace-config.ts';

/** Everything about accounts, over records that hold nothing secret in the clear. */
export function createRegistry(context: RegistryContext): Registry {
  return {
    accounts: createAccounts(context),
    keys: createKeys(context),
    runners: createRunnerTokens(context),
    ...createCollections(context),
    secrets: createSecretStore(context),
    audit: createAuditLog(context),
  };
}

interface Collections {
  readonly agents: Collection<AgentConfig>;
  readonly sandboxes: Collection<SandboxConfig>;
  readonly workspaces: Collection<WorkspaceConfig>;
}

function createCollections(context: RegistryContext): Collections {
  const { vault, now, providers, storages, opened } = context;
  const agents = createSealedRows<AgentConfig>(vault, 'agents');
  const sandboxes = createSealedRows<SandboxConfig>(vault, 'sandboxes');
  const workspaces = createSealedRows<WorkspaceConfig>(vault, 'workspaces');
  const references = createReferences({ agents, sandboxes, workspaces, providers, opened });

  return {
    agents: createCollection<AgentConfig>(context, {
      ...{ kind: 'agent', title: 'Agent', prefix: 'agent', table: 'agents', rows: agents },
      parse: parseAgentConfig,
      respell: asItIs,
      onWritten: references.tie,
      onRemove: (tables, { accountId, id }) => tables.references.replace(accountId, id, []),
    }),
    sandboxes: createCollection<SandboxConfig>(context, {
      ...{ kind: 'sandbox', title: 'Sandbox', prefix: 'sb', table: 'sandboxes', rows: sandboxes },
      parse: createSandboxParser(providers),
      respell: spellPatch,
      onWritten: references.mustSuitUsers,
      onRemove: references.mustBeUnused,
    }),
    workspaces: createCollection<WorkspaceConfig>(context, {
      ...{ kind: 'workspace', title: 'Workspace', prefix: 'ws', table: 'workspaces' },
      rows: workspaces,
      parse: createWorkspaceParser(storages),
      respell: asItIs,
      onWritten: references.mustStayOpen,
      async onRemove(tables, view) {
        await references.mustBeUnused(tables, view);
        await oweRemovals(tables, view, now());
      },
    }),
  };
}

function asItIs(patch: JsonObject): JsonObject {
  return patch;
}
