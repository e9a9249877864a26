import type { Provider, Sandbox } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events/emitter.ts';
import { wrapWithHistory } from '../core/history/checkpoints/wrap-with-history.ts';
import type { SkillsSyncer } from '../core/skills/skills-syncer.ts';
import type { Durability } from '../core/storage/durability.ts';
import type { PermissionMode } from '../core/workspace/permission.ts';
import type { Workspace, WorkspaceAccess } from '../core/workspace/workspace.ts';
import { realpathOf } from '../lib/files/workspace-owner.ts';
import type { NamedMount } from '../storages/index.ts';
import type { FlagWorkspaceForks } from './forks/flag-workspace-forks.ts';
import { type Overlays, openTransactions } from './forks/overlays.ts';
import type { CodeServers } from './workspaces/code-servers.ts';
import type { SandboxOptions } from './workspaces/sandbox-options.ts';
import { createSearchAndChecks } from './workspaces/search-and-checks.ts';
import type { SearchBoxPool } from './workspaces/search-box-pool.ts';
import type { WorkspaceHistories } from './workspaces/workspace-histories.ts';

export interface AssemblyOptions {
  readonly data: string | undefined;
  readonly emit: Emit;
  readonly provider: Provider;
  readonly searches: SearchBoxPool;
  readonly codeServers: CodeServers;
  /** Without it, workspaces have no history. */
  readonly histories?: WorkspaceHistories | undefined;
  readonly layered?: Overlays | undefined;
  /** Without it, the server has no skills of its own. */
  readonly skills?: SkillsSyncer | undefined;
  readonly forks?: FlagWorkspaceForks | undefined;
  readonly durability: Durability | undefined;
  readonly access: WorkspaceAccess;
  readonly permission: PermissionMode;
  readonly sandbox: SandboxOptions;
}

/** Assembles a workspace that a flag names: files, search, checks, history, sandboxes, transactions and forks. */
export function assembleFlagWorkspace(
  { name, root, handle, files, mustBeThere }: NamedMount,
  assembly: AssemblyOptions,
): Workspace {
  const { provider, access } = assembly;
  const { limits, network, readable, allowControl, personal } = assembly.sandbox;
  const history = assembly.histories?.of(handle);
  const openSandboxIn = async (directory: number) => {
    mustBeThere();
    return provider.open({
      directoryFd: directory,
      workspacePath: root,
      limits,
      network,
      readable,
      allowControl,
      personal,
    });
  };
  return {
    id: name,
    name,
    root,
    access,
    permission: assembly.permission,
    files,
    ...createSearchAndChecks(
      {
        ...{ name, root, key: realpathOf(handle), directoryFd: () => handle, files, mustBeThere },
        ...(history && assembly.histories && toTree(handle, assembly.histories)),
      },
      assembly,
    ),
    ...(history && {
      history,
      wrapCall: wrapWithHistory(history),
      forks: assembly.forks?.of({ name, handle }, history),
    }),
    ...(history && assembly.layered && { transactions: toTransactions(handle, assembly.layered, openSandboxIn) }),
    ...toWatch(handle, assembly),
    openSandbox: () => openSandboxIn(handle),
  };
}

function toTree(handle: number, { treeOf }: WorkspaceHistories) {
  return { tree: () => treeOf(handle) };
}

function toWatch(handle: number, { histories }: Pick<AssemblyOptions, 'histories'>): Pick<Workspace, 'watch'> {
  return histories ? { watch: (onChange, signal) => histories.watch(handle, onChange, signal) } : {};
}

function toTransactions(handle: number, layered: Overlays, openSandbox: (directory: number) => Promise<Sandbox>) {
  const { histories } = layered;
  return openTransactions(layered, {
    tree: () => histories.treeOf(handle),
    directoryFd: async () => handle,
    openSandbox,
  });
}
