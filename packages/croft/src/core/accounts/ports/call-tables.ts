import type { ChainLink } from './audit-chain.ts';
import type { Paged, PageRequest } from './pages.ts';

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'used' | 'expired';

export interface ApprovalRow {
  readonly accountId: string;
  readonly approvalId: string;
  readonly agentId: string;
  /** The session of the call. No other session may claim the approval. */
  readonly session: string;
  readonly tool: string;
  readonly workspace: string;
  /** The exact input, and the text that a person sees of it. Sealed. */
  readonly content: string;
  /** Hash of exactly this call in this session. */
  readonly hash: string;
  readonly state: ApprovalState;
  /** Valid for one call, or for every call of this session with this hash. */
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
  /** The newest approval of a call, in any state. */
  byHash(accountId: string, session: string, hash: string): Promise<ApprovalRow | undefined>;
  /** How many approvals of a call there are, in any state. */
  countByHash(accountId: string, session: string, hash: string): Promise<number>;
  /** Newest first. */
  list(
    accountId: string,
    filter: { readonly state?: ApprovalState | undefined; readonly agentId?: string | undefined },
    page: PageRequest,
  ): Promise<Paged<ApprovalRow>>;
  /** False when the stored version is not the one before `row.version`: somebody else decided or claimed it. */
  update(row: ApprovalRow): Promise<boolean>;
  /**
   * Removes approvals that expired before then, in any state: the audit trail keeps the decisions. Resolves with their
   * number.
   */
  removeBefore(expiresAt: string): Promise<number>;
  /** All rows of all accounts, for key rotation. */
  all(page: PageRequest): Promise<Paged<ApprovalRow>>;
}

/** The stored state of a session: see `core/sessions/session-store.ts`. */
export interface SessionRow {
  readonly accountId: string;
  readonly agentId: string;
  /** The caller's name of the session. */
  readonly session: string;
  readonly parent?: string | undefined;
  /** JSON. */
  readonly state: string;
  readonly usedAt: string;
  readonly version: number;
  /** Id of the data directory of the server that stored the row. */
  readonly serverId?: string | undefined;
}

export interface SessionTable {
  /** `undefined` when there is no such session. */
  version(accountId: string, agentId: string, session: string): Promise<number | undefined>;
  get(accountId: string, agentId: string, session: string): Promise<SessionRow | undefined>;
  /** Version 1 creates the row. False when the stored version is not the one before `row.version`. */
  put(row: SessionRow): Promise<boolean>;
  count(accountId: string): Promise<number>;
  list(accountId: string, agentId: string, page: PageRequest): Promise<Paged<SessionRow>>;
  remove(accountId: string, agentId: string, session: string): Promise<boolean>;
  /** Removes sessions last used before then. Resolves with their number. */
  removeIdle(before: string): Promise<number>;
}

/** The answer to a request that came with an `Idempotency-Key`. */
export interface RequestRow {
  readonly accountId: string;
  readonly key: string;
  /** Hash of method, path and body: the same key for another request is a mistake. */
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

/** A call whose beginning is in the audit trail and whose end is not. */
export interface CallRow {
  readonly callId: string;
  /** Id of the data directory of the server that began the call. */
  readonly serverId: string;
  readonly accountId: string;
  readonly actor: string;
  readonly tool: string;
}

export interface CallTable {
  /** Leaves an existing row unchanged. */
  insert(row: CallRow): Promise<void>;
  /** False when there is no such call: it has ended already. */
  remove(callId: string): Promise<boolean>;
  /** Returns at most `limit` calls of one server. */
  of(serverId: string, limit: number): Promise<readonly CallRow[]>;
}

/** Rows about one call that depend on nothing in the records, so that nothing has to be read first. */
export interface CallRecord {
  readonly entries?: readonly AuditEntry[] | undefined;
  readonly began?: CallRow | undefined;
  /** The id of a call that is no longer under way. */
  readonly ended?: string | undefined;
  /** Follows the stored row of an existing session. */
  readonly session?: SessionRow | undefined;
}

/** Something that happened, before it is added to the chain. */
export interface AuditEntry {
  readonly accountId: string;
  readonly at: string;
  /** The actor: a key, an agent's session, the admin, the server. */
  readonly actor: string;
  /** Name of the event: `call`, `approval.approved`, `sandbox.created`, `violation`. */
  readonly action: string;
  /** The affected thing: a record, a tool. */
  readonly target: string;
  /** JSON, redacted. */
  readonly details: string;
}

export interface AuditRow extends AuditEntry {
  /** Position in the chain: counts from 1, without a gap. */
  readonly sequence: number;
  /** Hash of the previous row; 64 zeros for the first. */
  readonly previous: string;
  /** Hash of this row and all rows before it: see `audit-chain.ts`. */
  readonly hash: string;
}

export interface AuditTable {
  /** Appends the entries in order to the end of the one chain of the database. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** The end of the chain. `undefined` when there is no row. */
  last(): Promise<ChainLink | undefined>;
  /** In order, or newest first, for one account or all. `after` is a sequence number. */
  list(
    filter: { readonly accountId?: string | undefined; readonly newestFirst?: true | undefined },
    page: PageRequest,
  ): Promise<Paged<AuditRow>>;
}
