import { AppError } from '@croft/protocol';
import { flagsAgentId, flagsSandboxId, operatorId } from '../../core/accounts/access/operator-ids.ts';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type {
  AgentConfig,
  Registry,
  ResourceCollection,
  ResourceView,
  SandboxConfig,
  WorkspaceConfig,
} from '../../core/accounts/ports/registry.ts';
import type { App } from '../app.ts';

type Views = Pick<Registry, 'agents' | 'sandboxes' | 'workspaces'>;

/** Shows the workspaces that flags name as records of an account. None of the records can be changed. */
export function createFlagWorkspaceRecords(
  app: Pick<App, 'workspaces' | 'provider' | 'permission' | 'sandbox'>,
): Views {
  const since = new Date().toISOString();
  const toView = <Config>(id: string, name: string, config: Config): ResourceView<Config> => ({
    ...{ accountId: operatorId, id, name, config, createdAt: since, updatedAt: since, version: 1 },
  });
  const toReference = ({ name }: { readonly name: string }) => ({ name, workspaceId: name });
  return {
    workspaces: readOnlyCollection('workspace', () =>
      app.workspaces.list().map(({ name }) => toView<WorkspaceConfig>(name, name, { storage: { provider: 'local' } })),
    ),
    sandboxes: readOnlyCollection('sandbox', () => [
      toView<SandboxConfig>(flagsSandboxId, app.provider.name, toSandboxConfig(app)),
    ]),
    agents: readOnlyCollection('agent', () => [
      toView<AgentConfig>(flagsAgentId, 'MCP clients', {
        sandbox: flagsSandboxId,
        workspaces: app.workspaces.list().map(toReference),
      }),
    ]),
  };
}

function toSandboxConfig({ provider, permission, sandbox }: Pick<App, 'provider' | 'permission' | 'sandbox'>) {
  const { network, allowControl } = sandbox;
  const config: SandboxConfig = {
    ...{ provider: provider.name, permissionMode: permission, runtimes: ['bash', 'python', 'node'] },
    ...(allowControl && { allowControl }),
    network:
      network.mode === 'restricted'
        ? { mode: 'restricted', allowDomains: network.domains, allowCidrs: network.cidrs }
        : { mode: network.mode === 'deny-all' ? 'deny-all' : 'allow-all' },
  };
  return config;
}

const titles = { workspace: 'Workspace', sandbox: 'Sandbox', agent: 'Agent' } as const;

function readOnlyCollection<Config>(
  kind: ResourceCollection<Config>['kind'],
  list: () => readonly ResourceView<Config>[],
): ResourceCollection<Config> {
  const refuse = async (): Promise<never> => {
    throw new AppError('E_FORBIDDEN', `the ${kind} comes from flags of the server, so it cannot be changed here`, {
      hint: 'Start croft with other flags.',
    });
  };
  const open = async (_: string, id: string) => list().find((view) => view.id === id);
  return {
    ...{ kind, open, create: refuse, patch: refuse, mustBeRemovable: refuse, remove: refuse },
    list: async () => ({ rows: list() }),
    async get({ accountId }, id) {
      const view = await open(accountId, id);
      if (!view) throw notFound(titles[kind]);
      return view;
    },
  };
}
