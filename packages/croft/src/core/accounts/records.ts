/**
 * What a server keeps besides files: who may do what, what was asked and decided, and what happened.
 *
 * Rows are plain data. What is secret in them arrives sealed: a store never sees a config, a secret or a token.
 * Times are ISO strings in UTC; `version` counts up with every change of a row.
 *
 * A text that cannot be kept exactly (a NUL, half a surrogate pair) or that is too long is refused with
 * `E_INVALID_INPUT`; what belongs to an account that is not there with `E_NOT_FOUND`, but for approvals, sessions,
 * requests and the audit trail, which others have too. `E_STORAGE_FAILED` says that the store itself failed. Lists are in
 * order of making unless they say otherwise.
 */
export interface Records extends AsyncDisposable {
  readonly name: string;
  /**
   * All of it or nothing, durable when it resolves, and as if no other change came between. May run `work` more than
   * once, so `work` has no effect but through `tables`. What `work` throws comes out and undoes it. All other changes
   * wait while `work` runs: one that waits for another, or that makes one, does not end and is given up.
   */
  change<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
  /** One consistent look, at what was kept. Nothing can be changed through it. */
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
}

export interface Tables {
  readonly accounts: AccountTable;
  readonly keys: KeyTable;
  readonly agents: ResourceTable;
  readonly sandboxes: ResourceTable;
  readonly workspaces: ResourceTable;
  readonly references: ReferenceTable;
  readonly approvals: ApprovalTable;
  readonly secrets: SecretTable;
  readonly sessions: SessionTable;
  readonly requests: RequestTable;
  readonly removals: RemovalTable;
  readonly audit: AuditTable;
  /** Everything of an account but its audit trail and its own row. Answers how many rows went, by table. */
  removeAllOf(accountId: string): Promise<Record<string, number>>;
}

export interface Page {
  readonly limit: number;
  /** `next` of the page before, as it was given. What is asked for does not change between the two. */
  readonly after?: string | undefined;
}

export interface Paged<Row> {
  readonly rows: readonly Row[];
  /** Left out: there is no more. */
  readonly next?: string | undefined;
}

export interface AccountRow {
  readonly accountId: string;
  readonly username: string;
  readonly description?: string | undefined;
  readonly status: 'active' | 'disabled';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

export interface AccountTable {
  insert(row: AccountRow): Promise<void>;
  get(accountId: string): Promise<AccountRow | undefined>;
  /** In order of making. */
  list(page: Page): Promise<Paged<AccountRow>>;
  /** False when the stored version is not the one before `row.version`. */
  update(row: AccountRow): Promise<boolean>;
  remove(accountId: string): Promise<boolean>;
}

export interface KeyRow {
  readonly accountId: string;
  readonly keyId: string;
  readonly name: string;
  /** What it may do; `*` is everything. */
  readonly scopes: readonly string[];
  /** Peppered; the key itself is nowhere. */
  readonly hash: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly revokedAt?: string | undefined;
}

export interface KeyTable {
  insert(row: KeyRow): Promise<void>;
  byHash(hash: string): Promise<KeyRow | undefined>;
  get(accountId: string, keyId: string): Promise<KeyRow | undefined>;
  list(accountId: string, page: Page): Promise<Paged<KeyRow>>;
  /** False when there is no such key, or it is revoked already. */
  revoke(accountId: string, keyId: string, revokedAt: string): Promise<boolean>;
}

/** An agent, a sandbox or a workspace: all are a name and a config. */
export interface ResourceRow {
  readonly accountId: string;
  readonly id: string;
  /** One of a kind within the account. */
  readonly name: string;
  readonly description?: string | undefined;
  /** Sealed. */
  readonly config: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

export interface ResourceTable {
  /** Throws `E_ALREADY_EXISTS` with `details.id` of the one that has the name. */
  insert(row: ResourceRow): Promise<void>;
  get(accountId: string, id: string): Promise<ResourceRow | undefined>;
  byName(accountId: string, name: string): Promise<ResourceRow | undefined>;
  list(accountId: string, page: Page): Promise<Paged<ResourceRow>>;
  count(accountId: string): Promise<number>;
  /** False when the stored version is not the one before `row.version`. Throws `E_ALREADY_EXISTS` as `insert`. */
  update(row: ResourceRow): Promise<boolean>;
  remove(accountId: string, id: string): Promise<boolean>;
  /** Of every account, for the rotation of keys. */
  all(page: Page): Promise<Paged<ResourceRow>>;
}

/** Which agent uses which sandbox or workspace. */
export interface ReferenceTable {
  replace(accountId: string, from: string, to: readonly string[]): Promise<void>;
  /** The ids that refer to it, in order, at most `limit`. */
  usersOf(accountId: string, to: string, limit: number): Promise<readonly string[]>;
}

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'used' | 'expired';

export interface ApprovalRow {
  readonly accountId: string;
  readonly approvalId: string;
  readonly agentId: string;
  /** The session whose call it is; no other may claim it. */
  readonly session: string;
  readonly tool: string;
  readonly workspace: string;
  /** Sealed: the exact input, and what a person is shown of it. */
  readonly content: string;
  /** Of exactly this call in this session. */
  readonly hash: string;
  readonly state: ApprovalState;
  /** For this call alone, or for every call of this session with this hash. */
  readonly scope: 'once' | 'session';
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly decidedAt?: string | undefined;
  readonly decidedBy?: string | undefined;
  readonly reason?: string | undefined;
  readonly version: number;
}

export interface ApprovalTable {
  insert(row: ApprovalRow): Promise<void>;
  get(accountId: string, approvalId: string): Promise<ApprovalRow | undefined>;
  /** The newest of a call, whatever its state. */
  byHash(accountId: string, session: string, hash: string): Promise<ApprovalRow | undefined>;
  /** Newest first. */
  list(
    accountId: string,
    filter: { readonly state?: ApprovalState | undefined; readonly agentId?: string | undefined },
    page: Page,
  ): Promise<Paged<ApprovalRow>>;
  /** False when the stored version is not the one before `row.version`: somebody else decided or claimed it. */
  update(row: ApprovalRow): Promise<boolean>;
  /** Those whose time was over before then, whatever became of them: the audit trail keeps what was decided. Answers how many. */
  removeBefore(expiresAt: string): Promise<number>;
  /** Of every account, for the rotation of keys. */
  all(page: Page): Promise<Paged<ApprovalRow>>;
}

export interface SecretRow {
  readonly accountId: string;
  readonly name: string;
  /** Sealed. */
  readonly value: string;
  readonly updatedAt: string;
}

export interface SecretTable {
  put(row: SecretRow): Promise<void>;
  get(accountId: string, name: string): Promise<SecretRow | undefined>;
  list(accountId: string): Promise<readonly SecretRow[]>;
  remove(accountId: string, name: string): Promise<boolean>;
  /** Of every account, for the rotation of keys; `after` and `next` are `accountId/name`. */
  all(page: Page): Promise<Paged<SecretRow>>;
}

/** What of a session must outlive a server: see `core/session-state.ts`. */
export interface SessionRow {
  readonly accountId: string;
  readonly agentId: string;
  /** The caller's name for it. */
  readonly session: string;
  readonly parent?: string | undefined;
  /** JSON. */
  readonly state: string;
  readonly usedAt: string;
  readonly version: number;
}

export interface SessionTable {
  get(accountId: string, agentId: string, session: string): Promise<SessionRow | undefined>;
  /** Version 1 makes it. False when the stored version is not the one before `row.version`. */
  put(row: SessionRow): Promise<boolean>;
  count(accountId: string): Promise<number>;
  list(accountId: string, agentId: string, page: Page): Promise<Paged<SessionRow>>;
  remove(accountId: string, agentId: string, session: string): Promise<boolean>;
  /** Those last used before then. Answers how many. */
  removeIdle(before: string): Promise<number>;
}

/** The answer to a request that came with an `Idempotency-Key`. */
export interface RequestRow {
  readonly accountId: string;
  readonly key: string;
  /** Of method, path and body: the same key for another request is a mistake. */
  readonly hash: string;
  readonly status: number;
  /** Sealed. */
  readonly body: string;
  readonly createdAt: string;
}

export interface RequestTable {
  get(accountId: string, key: string): Promise<RequestRow | undefined>;
  /** Throws `E_ALREADY_EXISTS` when the key is taken. */
  insert(row: RequestRow): Promise<void>;
  removeBefore(createdAt: string): Promise<number>;
}

/** What a runner may still have of a workspace whose record is gone. */
export interface RemovalRow {
  readonly accountId: string;
  /** No other ever has it, whatever it is called. */
  readonly workspaceId: string;
  /** By its name. */
  readonly runner: string;
  readonly createdAt: string;
}

export interface RemovalTable {
  /** One that is there already stays as it is. */
  insert(row: RemovalRow): Promise<void>;
  get(accountId: string, workspaceId: string, runner: string): Promise<RemovalRow | undefined>;
  /** Of one runner. */
  list(accountId: string, runner: string, page: Page): Promise<Paged<RemovalRow>>;
  remove(accountId: string, workspaceId: string, runner: string): Promise<boolean>;
  removeBefore(createdAt: string): Promise<number>;
}

/** Something that happened, before it has its place in the chain. */
export interface AuditEntry {
  readonly accountId: string;
  readonly at: string;
  /** Who: a key, an agent's session, the admin, the server. */
  readonly actor: string;
  /** What, as `call`, `approval.approved`, `sandbox.created`, `violation`. */
  readonly action: string;
  /** To what: a record, a tool. */
  readonly target: string;
  /** JSON, redacted. */
  readonly details: string;
}

export interface AuditRow extends AuditEntry {
  /** From 1, without a gap. */
  readonly sequence: number;
  /** The hash of the row before; of the first, 64 zeros. */
  readonly previous: string;
  /** `chainHash` of this row. */
  readonly hash: string;
}

export interface AuditTable {
  /** At the end of the one chain, in order. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** In order, of one account or all. `after` is a sequence number. */
  list(filter: { readonly accountId?: string | undefined }, page: Page): Promise<Paged<AuditRow>>;
}
