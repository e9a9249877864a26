import { AppError } from '@croft/protocol';
import { isId } from '../../../lib/ids.ts';
import { invalidArgument } from '../configs/invalid-argument.ts';
import type { ProviderTraits } from '../ports/provider-traits.ts';
import { readEveryPage } from '../ports/read-every-page.ts';
import type { Tables } from '../ports/records.ts';
import type {
  AgentConfig,
  ResourceView,
  SandboxConfig,
  WorkspaceConfig,
  WorkspaceReference,
} from '../ports/registry.ts';
import type { SealedRows } from '../sealing/sealed-rows.ts';
import { effectiveSandboxes } from '../surface/parse-agent-config.ts';

/** How many users of a record an error names. */
export const maxNamed = 20;

type AgentView = ResourceView<AgentConfig>;

interface Options {
  readonly agents: SealedRows<AgentConfig>;
  readonly sandboxes: SealedRows<SandboxConfig>;
  readonly workspaces: SealedRows<WorkspaceConfig>;
  readonly providers: readonly ProviderTraits[];
  /** The storages whose workspaces this server can open. */
  readonly opened: readonly string[];
}

/**
 * Checks that the records an agent refers to exist and suit it. All checks run within the transaction of the change.
 */
export function createReferences({ agents, sandboxes, workspaces, providers, opened }: Options) {
  const canMount = (provider: string) => providers.find(({ name }) => name === provider)?.capabilities.mounts ?? false;

  /** Checks and stores the references of an agent. */
  async function recordReferences(tables: Tables, { accountId, id, config }: AgentView): Promise<void> {
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
    throw invalidArgument(`Referenced sandbox not found: ${id.slice(0, 100)}`, 'config.sandbox');
  }

  async function findWorkspace(tables: Tables, accountId: string, { name, workspaceId }: WorkspaceReference) {
    const found = isId('ws', workspaceId) ? await workspaces.find(tables, accountId, workspaceId) : undefined;
    if (found) return found.config;
    throw invalidArgument(
      `Referenced workspace not found: ${workspaceId.slice(0, 100)} (as "${name}")`,
      'config.workspaces',
    );
  }

  function mustBeOpenable(name: string, { storage: { provider } }: WorkspaceConfig): void {
    if (opened.includes(provider)) return;
    const rest = `which this server cannot open; give the agent one that is kept in: ${opened.join(', ')}`;
    throw invalidArgument(`The workspace "${name}" is kept in ${provider}, ${rest}`, 'config.workspaces');
  }

  async function findUsers(tables: Tables, accountId: string, id: string): Promise<AgentView[]> {
    const ids = await tables.references.usersOf(accountId, id, maxNamed);
    const found = await Array.fromAsync(ids, (user) => agents.find(tables, accountId, user));
    return found.filter((agent) => agent !== undefined);
  }

  return {
    tie: recordReferences,

    async mustBeUnused(tables: Tables, { accountId, id, name }: ResourceView<unknown>): Promise<void> {
      const users = await findUsers(tables, accountId, id);
      if (users.length > 0) throw inUseError(`${name} is used by`, users);
    },

    /** Throws if a workspace has moved to a storage that its agents cannot open. */
    async mustStayOpenable(tables: Tables, { accountId, id, config }: ResourceView<WorkspaceConfig>): Promise<void> {
      const { provider } = config.storage;
      const users = opened.includes(provider) ? [] : await findUsers(tables, accountId, id);
      if (users.length > 0)
        throw inUseError(`this server cannot open workspaces with the storage ${provider}, and it is used by`, users);
    },

    /** Throws if a sandbox has moved to a provider that cannot do what its agents need. */
    async mustSuitUsers(tables: Tables, { accountId, id, config }: ResourceView<SandboxConfig>): Promise<void> {
      if (canMount(config.provider) || (await tables.references.usersOf(accountId, id, 1)).length === 0) return;
      const rows = await readEveryPage((page) => tables.agents.list(accountId, page));
      const mounting = rows.map(agents.open).filter((agent) => mounts(agent, id));
      const what = `the ${config.provider} provider cannot show a workspace to its sandboxes, and this one is given a workspace by`;
      if (mounting.length > 0) throw inUseError(what, mounting.slice(0, maxNamed));
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
  return invalidArgument(
    `The workspace "${name}" would be used through ${sandboxId}, but its provider ${provider} cannot show a workspace ` +
      'to its sandboxes: what is written there would be lost. Name a sandbox of another provider for it, or set its ' +
      'sandbox to null to read it without one.',
    'config.workspaces',
  );
}

/** Names the users in the message and in `details.usedBy`. */
export function inUseError(what: string, users: readonly { readonly id: string; readonly name: string }[]): AppError {
  const usedBy = users.map(({ id, name }) => ({ id, name }));
  const names = usedBy.map(({ id, name }) => `${name} (${id})`).join(', ');
  return new AppError('E_IN_USE', `${what}: ${names}`, { details: { usedBy } });
}
