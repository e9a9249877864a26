import { AppError } from '@croft/protocol';
import { isId } from '../../lib/ids.ts';
import { effectiveSandboxes } from './agent-config.ts';
import { readEveryPage } from './every-page.ts';
import { invalid } from './plain-json.ts';
import type { ProviderTraits } from './provider-traits.ts';
import type { Tables } from './records.ts';
import type { AgentConfig, ResourceView, SandboxConfig, WorkspaceConfig, WorkspaceReference } from './registry.ts';
import type { SealedRows } from './sealed-rows.ts';

const maxNamed = 20;

type AgentView = ResourceView<AgentConfig>;

interface Options {
  readonly agents: SealedRows<AgentConfig>;
  readonly sandboxes: SealedRows<SandboxConfig>;
  readonly workspaces: SealedRows<WorkspaceConfig>;
  readonly providers: readonly ProviderTraits[];
  /** The storages whose workspaces can be opened here. */
  readonly opened: readonly string[];
}

/** Keeps what agents refer to there, and fit for it. All of it within the transaction of the change it judges. */
export function createReferences({ agents, sandboxes, workspaces, providers, opened }: Options) {
  const canMount = (provider: string) => providers.find(({ name }) => name === provider)?.capabilities.mounts ?? false;

  /** Judges an agent's references and writes them down. */
  async function tie(tables: Tables, { accountId, id, config }: AgentView): Promise<void> {
    const own = config.sandbox;
    if (own !== undefined) await findSandbox(tables, accountId, own);
    for (const { reference, sandboxId } of effectiveSandboxes(config)) {
      mustBeOpenable(reference.name, await findWorkspace(tables, accountId, reference));
      if (sandboxId === undefined) continue;
      const { provider } = await findSandbox(tables, accountId, sandboxId);
      if (!canMount(provider)) throw unmountable(reference.name, sandboxId, provider);
    }
    await tables.references.replace(accountId, id, referredIds(config));
  }

  async function findSandbox(tables: Tables, accountId: string, id: string): Promise<SandboxConfig> {
    const found = isId('sb', id) ? await sandboxes.find(tables, accountId, id) : undefined;
    if (found) return found.config;
    throw invalid(`Referenced sandbox not found: ${id.slice(0, 100)}`, 'config.sandbox');
  }

  async function findWorkspace(tables: Tables, accountId: string, { name, workspaceId }: WorkspaceReference) {
    const found = isId('ws', workspaceId) ? await workspaces.find(tables, accountId, workspaceId) : undefined;
    if (found) return found.config;
    throw invalid(`Referenced workspace not found: ${workspaceId.slice(0, 100)} (as "${name}")`, 'config.workspaces');
  }

  function mustBeOpenable(name: string, { storage: { provider } }: WorkspaceConfig): void {
    if (opened.includes(provider)) return;
    const rest = `which this server cannot open; give the agent one that is kept in: ${opened.join(', ')}`;
    throw invalid(`The workspace "${name}" is kept in ${provider}, ${rest}`, 'config.workspaces');
  }

  async function findUsers(tables: Tables, accountId: string, id: string): Promise<AgentView[]> {
    const ids = await tables.references.usersOf(accountId, id, maxNamed);
    const found = await Array.fromAsync(ids, (user) => agents.find(tables, accountId, user));
    return found.filter((agent) => agent !== undefined);
  }

  return {
    tie,

    async mustBeUnused(tables: Tables, { accountId, id, name }: ResourceView<unknown>): Promise<void> {
      const users = await findUsers(tables, accountId, id);
      if (users.length > 0) throw inUse(`${name} is used by`, users);
    },

    /** A workspace may have moved to where its agents cannot follow. */
    async mustStayOpen(tables: Tables, { accountId, id, config }: ResourceView<WorkspaceConfig>): Promise<void> {
      const { provider } = config.storage;
      const users = opened.includes(provider) ? [] : await findUsers(tables, accountId, id);
      if (users.length > 0)
        throw inUse(`this server cannot open what is kept in ${provider}, and it is used by`, users);
    },

    /** A sandbox may have moved to a provider that cannot do what its agents want of it. */
    async mustSuitUsers(tables: Tables, { accountId, id, config }: ResourceView<SandboxConfig>): Promise<void> {
      if (canMount(config.provider) || (await tables.references.usersOf(accountId, id, 1)).length === 0) return;
      const rows = await readEveryPage((page) => tables.agents.list(accountId, page));
      const mounting = rows.map(agents.open).filter((agent) => mounts(agent, id));
      const what = `the ${config.provider} provider cannot show a workspace to its sandboxes, and this one is given a workspace by`;
      if (mounting.length > 0) throw inUse(what, mounting.slice(0, maxNamed));
    },
  };
}

function mounts({ config }: AgentView, sandboxId: string): boolean {
  return effectiveSandboxes(config).some((used) => used.sandboxId === sandboxId);
}

function referredIds({ sandbox, workspaces = [] }: AgentConfig): string[] {
  const ids = [sandbox, ...workspaces.flatMap((reference) => [reference.workspaceId, reference.sandbox])];
  return [...new Set(ids)].filter((id) => typeof id === 'string');
}

function unmountable(name: string, sandboxId: string, provider: string): AppError {
  return invalid(
    `The workspace "${name}" would be used through ${sandboxId}, but its provider ${provider} cannot show a workspace ` +
      'to its sandboxes: what is written there would be lost. Name a sandbox of another provider for it, or set its ' +
      'sandbox to null to read it without one.',
    'config.workspaces',
  );
}

function inUse(what: string, users: readonly AgentView[]): AppError {
  const usedBy = users.map(({ id, name }) => ({ id, name }));
  const names = usedBy.map(({ id, name }) => `${name} (${id})`).join(', ');
  return new AppError('E_IN_USE', `${what}: ${names}`, { details: { usedBy } });
}
