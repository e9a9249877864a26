import type {
  AccountTable,
  BrowserSessionTable,
  DataDirectoryTable,
  KeyCheckTable,
  KeyTable,
  ReferenceTable,
  RemovalTable,
  ResourceTable,
  SecretTable,
} from './account-tables.ts';
import type { ApprovalTable, AuditTable, CallRecord, CallTable, RequestTable, SessionTable } from './call-tables.ts';
import type { LeaseTable, RunnerLinkTable, SandboxCountTable, ServerTable } from './cluster-tables.ts';
import type { ReservationTable } from './reservation-table.ts';

/**
 * Data of a server besides files: who may do what, which approvals were requested and decided, and what happened.
 *
 * Rows are plain data. Secrets in them arrive sealed: a store never sees a config, a secret or a token. Times are ISO
 * strings in UTC; `version` increases with every change of a row.
 *
 * A text that cannot be stored exactly (a NUL, half a surrogate pair) or is too long throws `E_INVALID_INPUT`. A row of
 * a missing account throws `E_NOT_FOUND`, except for approvals, sessions, requests and the audit trail, which also
 * exist without accounts. `E_STORAGE_FAILED` means that the store itself failed. Lists are in order of creation unless
 * they say otherwise.
 */
export interface Records extends AsyncDisposable {
  readonly name: string;
  /** Whether other servers may change the same records. If not, only this server and the operator's commands do. */
  readonly isShared: boolean;
  /**
   * Runs a serialisable transaction, durable when it resolves. May run `work` more than once, so `work` must have no
   * effect except through `tables`. An error of `work` is thrown and rolls back. All other changes wait while `work`
   * runs: a `work` that waits for another change, or makes one, deadlocks and is aborted.
   */
  change<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
  /**
   * Stores the rows about one call as one change, durable when it resolves. Rows that arrive at the same time share one
   * round trip to the database and fail together. Resolves with false if `session` was not stored, as
   * `SessionTable.put` does.
   */
  recordCall(rows: CallRecord): Promise<boolean>;
  /** Reads a consistent snapshot of committed rows. Changes are refused. */
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
  /** Like `read`, for a single statement: far cheaper, but two statements may see different states. */
  glance<T>(work: (tables: Tables) => Promise<T>): Promise<T>;
  /** Absent: all users of the records are on this machine and share its clock. */
  readonly clock?: RecordsClock | undefined;
  /** Messages between the servers of one database. Absent: there is one server. */
  readonly notices?: RecordsNotices | undefined;
}

/**
 * Short messages to all servers of one database, this one included. A message may be lost: it only saves the receiver
 * the wait for its next poll.
 */
export interface RecordsNotices {
  /** Never throws. */
  send(text: string): void;
  /** Connects again by itself. `onMessage` is called with an empty text after messages may have been lost. */
  listen(onMessage: (text: string) => void): Promise<void>;
}

/** The clock that all servers of one database share. */
export interface RecordsClock {
  now(): Date;
  /**
   * Asks the database for its time again. Throws when the database does not answer: `now` then continues from the last
   * answer.
   */
  measure(): Promise<void>;
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
  readonly browserSessions: BrowserSessionTable;
  readonly calls: CallTable;
  readonly keyChecks: KeyCheckTable;
  readonly dataDirectories: DataDirectoryTable;
  readonly servers: ServerTable;
  readonly leases: LeaseTable;
  readonly runnerLinks: RunnerLinkTable;
  readonly sandboxCounts: SandboxCountTable;
  readonly reservations: ReservationTable;
  readonly audit: AuditTable;
  /**
   * Removes all rows of an account except its audit trail and its own row. Resolves with the number of removed rows per
   * table.
   */
  removeAllOf(accountId: string): Promise<Record<string, number>>;
}
