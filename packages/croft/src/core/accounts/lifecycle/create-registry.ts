import { createAuditLog } from '../audit/audit-log.ts';
import type { ReadonlyJsonObject } from '../configs/check-json.ts';
import { respellNetworkPatch } from '../configs/network-config.ts';
import { createSandboxConfigParser } from '../configs/sandbox-config-parser.ts';
import { createWorkspaceConfigParser } from '../configs/workspace-config-parser.ts';
import { createKeys } from '../keys/keys.ts';
import { createRunnerTokens } from '../keys/runner-tokens.ts';
import type { AgentConfig, Registry, ResourceCollection, SandboxConfig, WorkspaceConfig } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { noteOrphanedFiles } from '../resources/note-orphaned-files.ts';
import { recordPendingRemovals } from '../resources/record-pending-removals.ts';
import { createReferences } from '../resources/record-references.ts';
import { createResourceCollection } from '../resources/resource-collection.ts';
import { createSecretStore } from '../resources/secret-store.ts';
import { createSealedRows } from '../sealing/sealed-rows.ts';
import { mustNameTools, parseAgentConfig } from '../surface/parse-agent-config.ts';
import { createAccounts } from './accounts.ts';

/** Creates the registry of accounts. Its records never contain a secret in plain text. */
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
  readonly agents: ResourceCollection<AgentConfig>;
  readonly sandboxes: ResourceCollection<SandboxConfig>;
  readonly workspaces: ResourceCollection<WorkspaceConfig>;
}

function createCollections(context: RegistryContext): Collections {
  const { vault, now, providers, storages, opened, toolNames } = context;
  const agents = createSealedRows<AgentConfig>(vault, 'agents');
  const sandboxes = createSealedRows<SandboxConfig>(vault, 'sandboxes');
  const workspaces = createSealedRows<WorkspaceConfig>(vault, 'workspaces');
  const references = createReferences({ agents, sandboxes, workspaces, providers, opened });

  return {
    agents: createResourceCollection<AgentConfig>(context, {
      ...{ kind: 'agent', title: 'Agent', prefix: 'agent', table: 'agents', rows: agents },
      parse: parseAgentConfig,
      respell: asItIs,
      async onWritten(tables, view) {
        mustNameTools(view.config, toolNames);
        await references.tie(tables, view);
      },
      mustBeRemovable: async () => {},
      onRemove: (tables, { accountId, id }) => tables.references.replace(accountId, id, []),
    }),
    sandboxes: createResourceCollection<SandboxConfig>(context, {
      ...{ kind: 'sandbox', title: 'Sandbox', prefix: 'sb', table: 'sandboxes', rows: sandboxes },
      parse: createSandboxConfigParser(providers),
      respell: respellNetworkPatch,
      onWritten: references.mustSuitUsers,
      mustBeRemovable: references.mustBeUnused,
      onRemove: async () => {},
    }),
    workspaces: createResourceCollection<WorkspaceConfig>(context, {
      ...{ kind: 'workspace', title: 'Workspace', prefix: 'ws', table: 'workspaces' },
      rows: workspaces,
      ...(context.directory !== undefined && { added: { directory: context.directory } }),
      parse: createWorkspaceConfigParser(storages, context.defaultStorage),
      respell: asItIs,
      onWritten: references.mustStayOpenable,
      mustBeRemovable: references.mustBeUnused,
      async onRemove(tables, view) {
        await recordPendingRemovals(tables, view, now());
        await noteOrphanedFiles(tables, view, context.directory);
      },
    }),
  };
}

function asItIs(patch: ReadonlyJsonObject): ReadonlyJsonObject {
  return patch;
}
