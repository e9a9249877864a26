import { AppError } from '@croft/protocol';
import type { SandboxConfig } from '../core/accounts/registry.ts';
import { toLimits, toNetwork } from '../core/accounts/sandbox-settings.ts';
import type { Effects } from '../core/checks/effects.ts';
import type { Provider, SandboxLimits } from '../core/commands/sandbox.ts';
import { withEnvironment } from '../core/commands/with-settings.ts';
import type { Emit } from '../core/events.ts';
import type { Forks } from '../core/history/forks.ts';
import type { Transactions } from '../core/history/transactions.ts';
import type { SkillsKeeper } from '../core/skills/keep-skills.ts';
import type { Tool } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { KeptWorkspaces } from '../storages/index.ts';
import type { AccountRoom } from './account-room.ts';
import type { TransactionsPlace } from './layered.ts';
import type { Places, WorkspaceRecord } from './places.ts';

/** What every agent of a server is made with. */
export interface RuntimeMeans {
  readonly tools: readonly Tool[];
  readonly kept: Pick<KeptWorkspaces, 'openScratch'>;
  readonly places: Places;
  openTransactions(place: TransactionsPlace): Transactions;
  /** What an agent forks is its own from then on. */
  openForks(record: WorkspaceRecord, agentId: string): Forks;
  /** By name, as accounts choose them. */
  readonly providers: Readonly<Record<string, Provider>>;
  /** The most any sandbox gets. */
  readonly limits: SandboxLimits;
  /** Whether an account may have the network of this machine, and what is around it. */
  readonly sharesNetwork: boolean;
  readonly room: AccountRoom;
  /** What a workspace is besides its files and its sandbox. */
  furnish(place: FurnishedPlace): Pick<Workspace, 'withSearchBox' | 'checks'>;
  /** Left out: the server has no skills of its own. */
  readonly skills?: SkillsKeeper | undefined;
  readonly effects: Effects;
  readonly sandboxIdleMs: number;
  readonly sessionIdleMs: number;
  readonly maxSessions: number;
  readonly now: () => number;
  readonly emit: Emit;
}

export interface FurnishedPlace {
  readonly name: string;
  readonly root: string;
  /** Which directory it is, on every start of the server: results of checks are kept by it. */
  readonly key: string;
  /** An open handle of its directory, which may have to be filled first. */
  directory(): number | Promise<number>;
  readonly files: Workspace['files'];
  /** Throws `E_WORKSPACE_GONE`. */
  mustBeThere(): void;
}

/** A provider that this server does not have is an error, never another provider. */
export async function openSandbox(
  config: SandboxConfig,
  place: { readonly directory: number; readonly workspacePath: string },
  { providers, limits, sharesNetwork }: RuntimeMeans,
) {
  const provider = Object.hasOwn(providers, config.provider) ? providers[config.provider] : undefined;
  if (!provider) throw new AppError('E_SANDBOX_UNAVAILABLE', `this server has no provider ${config.provider}`);
  const spec = { ...place, limits: toLimits(config, limits), network: toNetwork(config, sharesNetwork), readable: [] };
  return withEnvironment(await provider.open(spec), config.envVars ?? {});
}
