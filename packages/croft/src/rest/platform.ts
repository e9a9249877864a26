import type { Records } from '../core/accounts/records.ts';
import type { ApprovalDesk, Registry, RunnerToken } from '../core/accounts/registry.ts';
import type { Vault } from '../core/accounts/vault.ts';
import type { ChangeFeeds } from '../core/content/change-feeds.ts';
import type { FileDoors } from '../core/content/file-door.ts';
import type { RunnerView } from '../core/runners/runner.ts';
import type { Tickets } from '../core/terminals/tickets.ts';
import type { AgentDoor } from './agents-door.ts';
import type { ForkDoors, Histories } from './histories.ts';

/** What a server of many accounts has besides `/mcp`. */
export interface Platform {
  readonly adminToken: string;
  readonly records: Records;
  readonly vault: Vault;
  readonly registry: Registry;
  /** The same registry over other records: those of one transaction, so that a change and what is kept of it are one. */
  registryOn(records: Records): Registry;
  readonly approvals: ApprovalDesk;
  /** A runner as it is now. */
  viewRunner(token: RunnerToken): RunnerView;
  readonly agents: AgentDoor;
  /** For people. */
  readonly terminals: { readonly tickets: Pick<Tickets, 'issue'> };
  readonly files: PlatformFiles;
  /** Left out: nothing of what workspaces were is kept. */
  readonly histories?: Histories | undefined;
  /** Left out: none can be forked. */
  readonly forks?: ForkDoors | undefined;
  /** Takes away the files of an account that is deleted. Answers how many of what. */
  removeFiles(accountId: string, workspaceIds: readonly string[]): Promise<Record<string, number>>;
  readonly limits?: Partial<Limits> | undefined;
  readonly now?: (() => number) | undefined;
}

/** The files of workspaces, for whoever has a key of their account. */
export interface PlatformFiles extends FileDoors {
  readonly feeds: ChangeFeeds;
  /** Signs links, the same on every server. */
  readonly linkKey: Buffer;
}

export interface Limits {
  /** Of one account. */
  readonly requestsPerMinute: number;
  /** Of one address. */
  readonly refusalsPerMinute: number;
  /** Of one file. */
  readonly uploadBytes: number;
}

export const defaultLimits: Limits = {
  requestsPerMinute: 1200,
  refusalsPerMinute: 600,
  uploadBytes: 100 * 1024 * 1024,
};
