import type { Records } from '../core/accounts/records.ts';
import type { ApprovalDesk, Registry } from '../core/accounts/registry.ts';
import type { Vault } from '../core/accounts/vault.ts';
import type { AgentDoor } from './agents-door.ts';

/** What a server of many accounts has besides `/mcp`. */
export interface Platform {
  readonly adminToken: string;
  readonly records: Records;
  readonly vault: Vault;
  readonly registry: Registry;
  /** The same registry over other records: those of one transaction, so that a change and what is kept of it are one. */
  registryOn(records: Records): Registry;
  readonly approvals: ApprovalDesk;
  readonly agents: AgentDoor;
  /** Takes away the files of an account that is deleted. Answers how many of what. */
  removeFiles(accountId: string, workspaceIds: readonly string[]): Promise<Record<string, number>>;
  readonly limits?: Partial<Limits> | undefined;
  readonly now?: (() => number) | undefined;
}

export interface Limits {
  /** Of one account. */
  readonly requestsPerMinute: number;
  /** Of one address. */
  readonly refusalsPerMinute: number;
}

export const defaultLimits: Limits = { requestsPerMinute: 1200, refusalsPerMinute: 600 };
