import type { Cluster } from '../../app/cluster/cluster.ts';
import type { AccountEvents } from '../../core/account-events/account-events.ts';
import type { AuditVerdict } from '../../core/accounts/audit/verify-audit.ts';
import type { BrowserSessions } from '../../core/accounts/keys/browser-sessions.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { ApprovalInbox, Registry, RunnerToken, Scope } from '../../core/accounts/ports/registry.ts';
import type { Vault } from '../../core/accounts/ports/vault.ts';
import type { OpenSandboxes } from '../../core/commands/open-sandboxes.ts';
import type { ChangeFeeds } from '../../core/content/changes/change-feeds.ts';
import type { FileAccessFinder } from '../../core/content/changes/file-access.ts';
import type { RunnerView } from '../../core/runners/runner.ts';
import type { Tickets } from '../../core/terminals/terminal-tickets.ts';
import type { AccountForkAccess, AccountHistories } from './account-histories.ts';
import type { AgentApi } from './agent-api.ts';

/** Everything that the REST routes of a server with accounts use. */
export interface RestPlatform {
  readonly adminToken: string;
  readonly records: Records;
  readonly vault: Vault;
  readonly registry: Registry;
  /**
   * The same registry over other records: those of one transaction, so that a change and its stored answer are written
   * together.
   */
  registryOn(records: Records): Registry;
  readonly approvals: ApprovalInbox;
  /** Sessions of browsers, for accounts and for the operator. */
  readonly sessions: BrowserSessions;
  /** The workspaces that flags name. Absent: there are none here. */
  readonly operator?: OperatorAccess | undefined;
  /** The events of accounts, for people who watch. */
  readonly events: Pick<AccountEvents, 'join'>;
  /** The states of runners of one account now, on whichever server they are. */
  viewRunners(tokens: readonly RunnerToken[]): Promise<readonly RunnerView[]>;
  /** The servers that share the records. Absent: this is the only one. */
  readonly cluster?: Cluster | undefined;
  readonly agents: AgentApi;
  /** The sandboxes that are open on this server. */
  readonly openSandboxes: Pick<OpenSandboxes, 'live'>;
  /** Terminals for people. */
  readonly terminals: { readonly tickets: Pick<Tickets, 'issue'> };
  readonly files: PlatformFiles;
  /** Without it, workspaces have no history. */
  readonly histories?: AccountHistories | undefined;
  /** Without it, workspaces cannot be forked. */
  readonly forks?: AccountForkAccess | undefined;
  /** The audit trail of all accounts. Without it, no signed head is stored. */
  readonly audit?:
    | { verify(): Promise<AuditVerdict>; verifyShared(): Promise<AuditVerdict>; head(): string | undefined }
    | undefined;
  /** Removes the files of a deleted account. Returns how many of each kind. */
  removeFiles(accountId: string, workspaceIds: readonly string[]): Promise<Record<string, number>>;
  readonly limits?: Partial<RestLimits> | undefined;
  readonly now?: (() => number) | undefined;
}

export interface OperatorAccess {
  /** The token of the server, which MCP clients have. */
  readonly token: string;
  /** The scopes of the token. The admin token may do everything. */
  readonly tokenScopes: readonly Scope[];
  /** The platform that the routes use instead of the accounts. */
  readonly platform: RestPlatform;
}

/** The files of workspaces, for callers with a key of their account. */
interface PlatformFiles extends FileAccessFinder {
  readonly feeds: ChangeFeeds;
  /** Signs file links. The same on every server. */
  readonly linkKey: Buffer;
}

export interface RestLimits {
  /** Limit per account. */
  readonly requestsPerMinute: number;
  /** Limit per IP address. */
  readonly refusalsPerMinute: number;
  /** Limit per file. */
  readonly uploadBytes: number;
}

export const defaultLimits: RestLimits = {
  requestsPerMinute: 1200,
  refusalsPerMinute: 600,
  uploadBytes: 100 * 1024 * 1024,
};
