import type { McpServers } from '@croft/protocol';
import type { RunnerChoice } from '../runners/runner.ts';
import type { WorkspaceQuota } from '../storage.ts';
import type { AccountRow, ApprovalState, AuditRow, KeyRow, Page, Paged } from './records.ts';

/** Who asks. Everything they see and change is of their own account. */
export interface Actor {
  readonly accountId: string;
  /** For the audit trail: `key key_…`, `admin`. */
  readonly label: string;
  /** `*`, or some of `read`, `write`, `call`, `approve`. */
  readonly scopes: readonly Scope[];
  /** When the key it came with ends: what it makes does not outlive it. */
  readonly expiresAt?: string | undefined;
}

export type Scope = '*' | 'read' | 'write' | 'call' | 'approve';

/** A record as its owner may see it: what is secret is masked. */
export interface ResourceView<Config> {
  readonly accountId: string;
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly config: Config;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

/** What holds before a change: the version the caller has seen. */
export interface Expectation {
  readonly version?: number | undefined;
}

/**
 * The agents, the sandboxes or the workspaces of accounts. `body` is what came over the wire, and is refused whole with
 * `E_INVALID_INPUT` in the words of the catalogue of messages. Another account's id is `E_NOT_FOUND`. Each change and
 * its audit row are one transaction.
 */
export interface Collection<Config> {
  readonly kind: 'agent' | 'sandbox' | 'workspace';
  /** Throws `E_ALREADY_EXISTS` (with `details.id`) for a name that is taken, `E_INVALID_INPUT` for a dangling reference, `E_QUOTA` for one too many. */
  create(actor: Actor, body: unknown): Promise<ResourceView<Config>>;
  get(actor: Actor, id: string): Promise<ResourceView<Config>>;
  list(actor: Actor, page: Page): Promise<Paged<ResourceView<Config>>>;
  /** Deep merge: `null` deletes, `********` keeps. Throws `E_PRECONDITION_FAILED` when `expect` does not hold. */
  patch(actor: Actor, id: string, body: unknown, expect: Expectation): Promise<ResourceView<Config>>;
  /** Throws `E_IN_USE` with `details.usedBy` while an agent refers to it. */
  remove(actor: Actor, id: string, expect: Expectation): Promise<void>;
  /** For the server itself, with nothing masked. */
  open(accountId: string, id: string): Promise<ResourceView<Config> | undefined>;
}

export interface Keys {
  /** The key itself is answered this once. */
  create(actor: Actor, body: unknown): Promise<{ key: KeyView; secret: string }>;
  list(actor: Actor, page: Page): Promise<Paged<KeyView>>;
  /** For the server itself. */
  every(accountId: string): Promise<KeyView[]>;
  /** A new key in the place of this one, which goes at once. */
  rotate(actor: Actor, keyId: string): Promise<{ key: KeyView; secret: string }>;
  revoke(actor: Actor, keyId: string): Promise<void>;
}

export type KeyView = Omit<KeyRow, 'hash'>;

/** The machines that an account lets connect. Each is known by its token, which is a key that opens nothing else. */
export interface RunnerTokens {
  /** The token is answered this once. Throws `E_ALREADY_EXISTS` for a name that is taken. */
  create(actor: Actor, body: unknown): Promise<{ runner: RunnerToken; token: string }>;
  /** In order of name. */
  list(accountId: string): Promise<RunnerToken[]>;
  /** A new token in the place of the one it has, which is good no more at once. */
  rotate(actor: Actor, name: string): Promise<{ runner: RunnerToken; token: string }>;
  revoke(actor: Actor, name: string): Promise<void>;
  /** Whose token it is. Nothing for one that is unknown, expired or revoked, or of a disabled account. */
  authenticate(token: string): Promise<RunnerToken | undefined>;
}

export interface RunnerToken {
  readonly accountId: string;
  /** Another one with every token. */
  readonly runnerId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
}

export interface Accounts {
  /** By a key of the account. `undefined` for a key that is unknown, expired or revoked, or of a disabled account. */
  authenticate(token: string): Promise<Actor | undefined>;
  /** The same for an account that is disabled, whose removal was begun: for trying that again, and nothing else. */
  authenticateToRemove(token: string): Promise<Actor | undefined>;
  create(label: string, body: unknown): Promise<{ account: AccountRow; secret: string }>;
  get(accountId: string): Promise<AccountRow>;
  list(page: Page): Promise<Paged<AccountRow>>;
  patch(label: string, accountId: string, body: unknown): Promise<AccountRow>;
  /** Revokes every key of scope `*` made at creation or by this, and answers a new one. */
  rotateSecret(label: string, accountId: string): Promise<{ account: AccountRow; secret: string }>;
  /**
   * Disables the account first, then removes everything of it; the account's own row goes last, so that a failure in
   * between can be tried again. `removeFiles` takes away what lies outside the records.
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
  /** The session whose person is asked, when that is another: a child's approvals are its parent's. */
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
}

/** What people do with approvals. What calls do with them is in `core/approvals`. */
export interface ApprovalDesk {
  get(actor: Actor, approvalId: string): Promise<ApprovalView>;
  list(
    actor: Actor,
    filter: { readonly state?: ApprovalState | undefined; readonly agentId?: string | undefined },
    page: Page,
  ): Promise<Paged<ApprovalView>>;
  /** `body`: `{ decision: 'approve' | 'deny', reason?, scope?: 'once' | 'session' }`. Throws `E_APPROVAL_SETTLED` for one that is not pending. */
  decide(actor: Actor, approvalId: string, body: unknown): Promise<ApprovalView>;
}

export interface AuditLog {
  list(actor: Actor, page: Page): Promise<Paged<AuditRow>>;
}

/** Everything about accounts that the REST face serves. */
export interface Registry {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly runners: RunnerTokens;
  readonly agents: Collection<AgentConfig>;
  readonly sandboxes: Collection<SandboxConfig>;
  readonly workspaces: Collection<WorkspaceConfig>;
  readonly secrets: SecretStore;
  readonly audit: AuditLog;
}

export interface SandboxConfig extends RunnerChoice {
  readonly provider: string;
  readonly permissionMode: 'ask' | 'edit' | 'bypass';
  readonly network: {
    readonly mode: 'allow-all' | 'deny-all' | 'restricted';
    readonly allowDomains?: readonly string[] | undefined;
    readonly allowCidrs?: readonly string[] | undefined;
  };
  readonly size?: 'tiny' | 'xsmall' | 'small' | 'medium' | 'large' | undefined;
  readonly snapshot?: string | undefined;
  readonly runtimes: readonly ('bash' | 'python' | 'node')[];
  /** In seconds. */
  readonly timeout?: number | undefined;
  /** In megabytes. */
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
  /** At most, of all files together. */
  readonly quota?: WorkspaceQuota | undefined;
  readonly isolation?: boolean | undefined;
  /** The runner that its files are on. */
  readonly home?: string | undefined;
  /** What it was forked from. It only says so. */
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
  /** Started in the sandbox of each session, by name. */
  readonly mcpServers?: McpServers | undefined;
  /** Whether those that `.mcp.json` of a workspace names are started too. */
  readonly workspaceMcp?: boolean | undefined;
  /** Settings of the caller's own, kept as they came. */
  readonly [setting: string]: unknown;
}

export interface WorkspaceReference {
  readonly name: string;
  readonly workspaceId: string;
  /** Left out: the agent's own. `null`: none, and read without one. */
  readonly sandbox?: string | null | undefined;
}
