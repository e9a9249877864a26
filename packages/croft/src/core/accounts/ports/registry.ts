import type { Approval, McpServers, Scope } from '@croft/protocol';
import type { RunnerChoice } from '../../runners/runner.ts';
import type { WorkspaceQuota } from '../../storage/stored-mount.ts';
import type { AccountRow, KeyRow } from './account-tables.ts';
import type { AuditLog } from './audit-log.ts';
import type { ApprovalState } from './call-tables.ts';
import type { Paged, PageRequest } from './pages.ts';

/** The caller. They see and change only their own account. */
export interface Actor {
  readonly accountId: string;
  /** For the audit trail: `key key_…`, `admin`. */
  readonly label: string;
  readonly scopes: readonly Scope[];
  /**
   * The agents that the key is bound to: for this caller nothing else of the account exists. Absent: the key is not
   * bound.
   */
  readonly agents?: readonly string[] | undefined;
  /** When the caller's key expires. Keys that the caller makes must not outlive it. */
  readonly expiresAt?: string | undefined;
  /** Change count of the account when the key was checked, for `createPerAccountCache`. */
  readonly asOf?: number | undefined;
  /** See `AccountCounts`, when the key was checked. */
  readonly sessionMoves?: number | undefined;
}

export type { Scope } from '@croft/protocol';

/** A record as its owner may see it, with secrets masked. */
export interface ResourceView<Config> {
  readonly accountId: string;
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly config: Config;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
  /** Only the server reads it: see `ResourceRow`. */
  readonly directory?: string | undefined;
}

/** Precondition of a change: the version that the caller has seen. */
export interface ExpectedVersion {
  readonly version?: number | undefined;
}

/**
 * The agents, the sandboxes or the workspaces of accounts. `body` is an unparsed request body; an invalid one throws
 * `E_INVALID_INPUT` in the words of the message catalogue. The id of another account's record throws `E_NOT_FOUND`.
 * Each change and its audit row are one transaction.
 */
export interface ResourceCollection<Config> {
  readonly kind: 'agent' | 'sandbox' | 'workspace';
  /**
   * Throws `E_ALREADY_EXISTS` (with `details.id`) for a taken name, `E_INVALID_INPUT` for a dangling reference,
   * `E_QUOTA` above the limit.
   */
  create(actor: Actor, body: unknown): Promise<ResourceView<Config>>;
  get(actor: Actor, id: string): Promise<ResourceView<Config>>;
  list(actor: Actor, page: PageRequest): Promise<Paged<ResourceView<Config>>>;
  /** Deep merge: `null` deletes, `********` keeps. Throws `E_PRECONDITION_FAILED` when `expect` does not hold. */
  patch(actor: Actor, id: string, body: unknown, expect: ExpectedVersion): Promise<ResourceView<Config>>;
  /** Throws whatever `remove` would throw, and returns the record otherwise. Changes nothing. */
  mustBeRemovable(actor: Actor, id: string, expect: ExpectedVersion): Promise<ResourceView<Config>>;
  /** Throws `E_IN_USE` with `details.usedBy` while an agent refers to it. */
  remove(actor: Actor, id: string, expect: ExpectedVersion): Promise<void>;
  /** Only for the server itself: secrets are not masked. */
  open(accountId: string, id: string): Promise<ResourceView<Config> | undefined>;
}

export interface Keys {
  /** Returns the key itself, which is never shown again. */
  create(actor: Actor, body: unknown): Promise<{ key: KeyView; secret: string }>;
  list(actor: Actor, page: PageRequest): Promise<Paged<KeyView>>;
  /** For the server itself. */
  listAll(accountId: string): Promise<KeyView[]>;
  /** Replaces a key by a new one. The old key stops working at once. */
  rotate(actor: Actor, keyId: string): Promise<{ key: KeyView; secret: string }>;
  revoke(actor: Actor, keyId: string): Promise<void>;
}

export type KeyView = Omit<KeyRow, 'hash'>;

/** The runners of an account. Each has a token, which is a key that can do nothing but connect as that runner. */
export interface RunnerTokens {
  /** Returns the token, which is never shown again. Throws `E_ALREADY_EXISTS` for a taken name. */
  create(actor: Actor, body: unknown): Promise<{ runner: RunnerToken; token: string }>;
  /** Sorted by name. */
  list(accountId: string): Promise<RunnerToken[]>;
  /** Replaces the token by a new one. The old token stops working at once. */
  rotate(actor: Actor, name: string): Promise<{ runner: RunnerToken; token: string }>;
  revoke(actor: Actor, name: string): Promise<void>;
  /**
   * Resolves with the runner of a token, or `undefined` for a token that is unknown, expired, revoked, or of a disabled
   * account.
   */
  authenticate(token: string): Promise<RunnerToken | undefined>;
}

export interface RunnerToken {
  readonly accountId: string;
  /** Changes with every new token. */
  readonly runnerId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
}

export interface Accounts {
  /** Resolves with `undefined` for a key that is unknown, expired, revoked, or of a disabled account. */
  authenticate(token: string): Promise<Actor | undefined>;
  /** The same for a disabled account whose removal has begun: only for repeating that removal. */
  authenticateToRemove(token: string): Promise<Actor | undefined>;
  /** The caller that a key stands for. Resolves with `undefined` as `authenticate` does. */
  actorOf(accountId: string, keyId: string): Promise<Actor | undefined>;
  create(label: string, body: unknown): Promise<{ account: AccountRow; secret: string }>;
  get(accountId: string): Promise<AccountRow>;
  list(page: PageRequest): Promise<Paged<AccountRow>>;
  patch(label: string, accountId: string, body: unknown): Promise<AccountRow>;
  /** Revokes the account's own keys (scope `*`, made at creation or by this) and returns a new one. */
  rotateSecret(label: string, accountId: string): Promise<{ account: AccountRow; secret: string }>;
  /**
   * Disables the account, then removes everything of it; the account's own row goes last, so that a failed removal can
   * be repeated. `removeFiles` removes what is outside of the records.
   */
  remove(
    label: string,
    accountId: string,
    removeFiles: (workspaceIds: readonly string[]) => Promise<Record<string, number>>,
  ): Promise<Record<string, number>>;
}

export interface SecretStore {
  put(actor: Actor, name: string, body: unknown): Promise<{ name: string; updatedAt: string }>;
  list(actor: Actor): Promise<readonly { name: string; updatedAt: string }[]>;
  remove(actor: Actor, name: string): Promise<void>;
  /** For the server itself. */
  openAll(accountId: string): Promise<ReadonlyMap<string, string>>;
}

/** An approval as a person sees it. */
export interface ApprovalView {
  readonly approvalId: string;
  readonly agentId: string;
  readonly session: string;
  /** The session whose person is asked, if it is another one: approvals of a child session go to its parent. */
  readonly inbox?: string | undefined;
  readonly tool: string;
  readonly workspace: string;
  readonly input: unknown;
  /** A diff for an edit, the command for bash. */
  readonly preview: string;
  readonly hash: string;
  readonly state: ApprovalState;
  readonly scope: 'once' | 'session';
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly decidedAt?: string | undefined;
  readonly decidedBy?: string | undefined;
  readonly reason?: string | undefined;
  /** The settings of the place where the call would run, as they were when the approval was asked for. */
  readonly setting?: Approval['setting'];
  /** How often this very call of this session was asked for before. */
  readonly askedBefore?: number | undefined;
}

/** Operations of people on approvals. For those of calls see `core/approvals`. */
export interface ApprovalInbox {
  get(actor: Actor, approvalId: string): Promise<ApprovalView>;
  list(
    actor: Actor,
    filter: { readonly state?: ApprovalState | undefined; readonly agentId?: string | undefined },
    page: PageRequest,
  ): Promise<Paged<ApprovalView>>;
  /**
   * `body`: `{ decision: 'approve' | 'deny', reason?, scope?: 'once' | 'session' }`. Throws `E_APPROVAL_SETTLED` unless
   * the approval is pending.
   */
  decide(actor: Actor, approvalId: string, body: unknown): Promise<ApprovalView>;
}

/** Everything about accounts that REST serves. */
export interface Registry {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly runners: RunnerTokens;
  readonly agents: ResourceCollection<AgentConfig>;
  readonly sandboxes: ResourceCollection<SandboxConfig>;
  readonly workspaces: ResourceCollection<WorkspaceConfig>;
  readonly secrets: SecretStore;
  readonly audit: AuditLog;
}

export interface SandboxConfig extends RunnerChoice {
  readonly provider: string;
  readonly permissionMode: 'ask' | 'edit' | 'bypass';
  /** Names of control files that agents may change without approval. */
  readonly allowControl?: readonly string[] | undefined;
  readonly network: {
    readonly mode: 'allow-all' | 'deny-all' | 'restricted';
    readonly allowDomains?: readonly string[] | undefined;
    readonly allowCidrs?: readonly string[] | undefined;
  };
  readonly size?: 'tiny' | 'xsmall' | 'small' | 'medium' | 'large' | undefined;
  readonly snapshot?: string | undefined;
  readonly runtimes: readonly ('bash' | 'python' | 'node')[];
  /** Time limit of a command, in seconds. */
  readonly timeout?: number | undefined;
  /** Memory limit of the sandbox, in megabytes. */
  readonly memoryLimit?: number | undefined;
  readonly outputLimitBytes?: number | undefined;
  readonly envVars?: Readonly<Record<string, string>> | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly persistent?: boolean | undefined;
  readonly lifecycle?:
    | { readonly idleTimeoutSeconds?: number | undefined; readonly maxLifetimeSeconds?: number | undefined }
    | undefined;
  readonly onCreate?: readonly string[] | undefined;
  readonly onResume?: readonly string[] | undefined;
}

export interface WorkspaceConfig {
  readonly storage: { readonly provider: 'local' | 's3'; readonly [setting: string]: unknown };
  /** Limits for all files together. */
  readonly quota?: WorkspaceQuota | undefined;
  readonly isolation?: boolean | undefined;
  /** Name of the runner that has its files. */
  readonly home?: string | undefined;
  /** The workspace it was forked from. For information only. */
  readonly forkOf?: string | undefined;
  readonly harness?:
    | {
        readonly enabled?: boolean | undefined;
        readonly workspace?: { readonly enabled?: boolean | undefined } | undefined;
        readonly memory?: { readonly enabled?: boolean | undefined } | undefined;
      }
    | undefined;
}

export interface AgentConfig {
  readonly sandbox?: string | undefined;
  readonly workspaces?: readonly WorkspaceReference[] | undefined;
  /** Names of tools and toolsets, see `selectTools`. Absent: every tool. */
  readonly tools?: readonly string[] | undefined;
  /** MCP servers by name, started in the sandbox of each session. */
  readonly mcpServers?: McpServers | undefined;
  /** Whether the servers in a workspace's `.mcp.json` are started too. */
  readonly workspaceMcp?: boolean | undefined;
  /** The caller's own settings, stored as they came. */
  readonly [setting: string]: unknown;
}

export interface WorkspaceReference {
  readonly name: string;
  readonly workspaceId: string;
  /** Absent: the agent's own sandbox. `null`: no sandbox; the workspace is read directly. */
  readonly sandbox?: string | null | undefined;
}
