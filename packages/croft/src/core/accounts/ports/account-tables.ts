import type { Paged, PageRequest } from './pages.ts';

export interface AccountRow {
  readonly accountId: string;
  readonly username: string;
  readonly description?: string | undefined;
  readonly status: 'active' | 'disabled';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

export interface AccountCounts {
  readonly changes: number;
  /**
   * Grows whenever a session of the account is stored by another server than the time before, and with `changes`, which
   * counts new and removed sessions.
   */
  readonly sessionMoves: number;
}

export interface AccountTable {
  insert(row: AccountRow): Promise<void>;
  get(accountId: string): Promise<AccountRow | undefined>;
  /** In order of creation. */
  list(page: PageRequest): Promise<Paged<AccountRow>>;
  /** False when the stored version is not the one before `row.version`. */
  update(row: AccountRow): Promise<boolean>;
  remove(accountId: string): Promise<boolean>;
  /**
   * Counts the changes that affect the rights of an account's calls: changes of its row, keys, agents, sandboxes,
   * workspaces and secrets, and of the set of its sessions. While the count is the same, earlier answers about these
   * are still valid.
   */
  changes(accountId: string): Promise<number>;
  /** Returns `changes` and `sessionMoves` in one statement. */
  counts(accountId: string): Promise<AccountCounts>;
}

export interface KeyRow {
  readonly accountId: string;
  readonly keyId: string;
  readonly name: string;
  /** Permissions of the key; `*` is everything. */
  readonly scopes: readonly string[];
  /** Ids of the agents that the key is bound to. Absent: it reaches everything of its account. */
  readonly agents?: readonly string[] | undefined;
  /** Peppered hash. The key itself is not stored anywhere. */
  readonly hash: string;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly revokedAt?: string | undefined;
}

export interface KeyTable {
  insert(row: KeyRow): Promise<void>;
  byHash(hash: string): Promise<KeyRow | undefined>;
  get(accountId: string, keyId: string): Promise<KeyRow | undefined>;
  list(accountId: string, page: PageRequest): Promise<Paged<KeyRow>>;
  /** False when there is no such key, or it is already revoked. */
  revoke(accountId: string, keyId: string, revokedAt: string): Promise<boolean>;
}

/** An agent, a sandbox or a workspace: each is a name and a config. */
export interface ResourceRow {
  readonly accountId: string;
  readonly id: string;
  /** Unique per kind within the account. */
  readonly name: string;
  readonly description?: string | undefined;
  /** Sealed. */
  readonly config: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
  /** The id of the data directory with the files of a workspace, while they are local. */
  readonly directory?: string | undefined;
}

/** A data directory, and the server that used it last. */
export interface DataDirectoryRow {
  readonly id: string;
  /** The name of the machine. */
  readonly host: string;
  /** The address at which the server listens. */
  readonly address: string;
  readonly usedAt: string;
}

/** Stores which data directory has the files of a workspace. A data directory is on one machine. */
export interface DataDirectoryTable {
  put(row: DataDirectoryRow): Promise<void>;
  all(): Promise<readonly DataDirectoryRow[]>;
  /** Binds a workspace that no directory has. False when it is bound already. */
  claim(accountId: string, workspaceId: string, id: string): Promise<boolean>;
  /** Moves every workspace, and every pending removal, from the data directory `from` to `to`. Returns how many. */
  adopt(from: string, to: string): Promise<number>;
  /** Notes that a directory has files of a workspace whose record is removed in the same change. */
  addOrphaned(row: OrphanedFilesRow): Promise<void>;
  /** Workspaces without a record whose files the server of this directory has to remove. At most 100. */
  orphaned(id: string): Promise<readonly OrphanedFilesRow[]>;
  removeOrphaned(row: OrphanedFilesRow): Promise<void>;
}

/** Files of a workspace whose record is gone. There is no account any more if the whole account was removed. */
export interface OrphanedFilesRow {
  /** The data directory that has the files. */
  readonly directory: string;
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface ResourceTable {
  /** Throws `E_ALREADY_EXISTS` with the id of the record that has the name in `details.id`. */
  insert(row: ResourceRow): Promise<void>;
  get(accountId: string, id: string): Promise<ResourceRow | undefined>;
  byName(accountId: string, name: string): Promise<ResourceRow | undefined>;
  list(accountId: string, page: PageRequest): Promise<Paged<ResourceRow>>;
  count(accountId: string): Promise<number>;
  /** False when the stored version is not the one before `row.version`. Throws `E_ALREADY_EXISTS` as `insert`. */
  update(row: ResourceRow): Promise<boolean>;
  remove(accountId: string, id: string): Promise<boolean>;
  /** All rows of all accounts, for key rotation. */
  all(page: PageRequest): Promise<Paged<ResourceRow>>;
}

/** Stores which agent uses which sandbox or workspace. */
export interface ReferenceTable {
  replace(accountId: string, from: string, to: readonly string[]): Promise<void>;
  /** Returns at most `limit` ids of agents that refer to `to`, in order. */
  usersOf(accountId: string, to: string, limit: number): Promise<readonly string[]>;
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
  /** All rows of all accounts, for key rotation; `after` and `next` are `accountId/name`. */
  all(page: PageRequest): Promise<Paged<SecretRow>>;
}

/** Files that a runner may still have of a workspace whose record was removed. */
export interface RemovalRow {
  readonly accountId: string;
  /** Never reused, also not for a workspace of the same name. */
  readonly workspaceId: string;
  /** Name of the runner. */
  readonly runner: string;
  readonly createdAt: string;
}

export interface RemovalTable {
  /** Leaves an existing row unchanged. */
  insert(row: RemovalRow): Promise<void>;
  get(accountId: string, workspaceId: string, runner: string): Promise<RemovalRow | undefined>;
  /** The removals that one runner has to do. */
  list(accountId: string, runner: string, page: PageRequest): Promise<Paged<RemovalRow>>;
  remove(accountId: string, workspaceId: string, runner: string): Promise<boolean>;
  removeBefore(createdAt: string): Promise<number>;
}

/**
 * One row for each sealing key, and one for the pepper of tokens. A server compares its own keys with these rows, because
 * all servers of a database must have the same keys.
 */
export interface KeyCheckRow {
  readonly id: string;
  /** Derived from the key; reveals nothing of it. */
  readonly check: string;
  /** Whether records may be sealed with the key. A key is added first, and used once every server has it. */
  readonly isUsed: boolean;
}

export interface KeyCheckTable {
  all(): Promise<readonly KeyCheckRow[]>;
  /** Changes only `isUsed` of an existing row. */
  put(row: KeyCheckRow): Promise<void>;
}

/** A browser that is signed in, or a code that signs one in. */
export interface BrowserSessionRow {
  /** Peppered hash. The secret itself is only in the browser. */
  readonly hash: string;
  readonly purpose: 'session' | 'link';
  readonly accountId: string;
  /** The key whose rights it has, and with which it ends. */
  readonly keyId: string;
  readonly createdAt: string;
  readonly usedAt: string;
  readonly expiresAt: string;
}

export interface BrowserSessionTable {
  insert(row: BrowserSessionRow): Promise<void>;
  byHash(hash: string): Promise<BrowserSessionRow | undefined>;
  use(hash: string, usedAt: string): Promise<void>;
  /** False when there is no such row: somebody else has removed it. */
  remove(hash: string): Promise<boolean>;
  /** Removes all rows of a key except the newest ones. */
  removeAllBut(accountId: string, keyId: string, newest: number): Promise<void>;
  removeBefore(expiresAt: string): Promise<number>;
}
