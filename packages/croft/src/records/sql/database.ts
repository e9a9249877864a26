import type { RecordsNotices } from '../../core/accounts/ports/records.ts';

/** The port to SQLite and PostgreSQL: everything the tables need from either. */
export interface Database extends AsyncDisposable {
  readonly name: string;
  /** See `Records.isShared`. */
  readonly isShared: boolean;
  /** Limit for connecting, for waiting for a lock, for one statement and for a whole unit of work. */
  readonly deadlineMs: number;
  /** Column type for text that compares byte by byte, so that both databases sort alike. */
  readonly textType: string;
  /** Query for the names of the existing tables in our schema. */
  readonly tableNames: string;
  /** Query for the time of the database as `ms` since 1970. Missing if the database is on this machine. */
  readonly timeSql?: string | undefined;
  /** See `Records.notices`. */
  readonly notices?: RecordsNotices | undefined;
  /** The statements that create a trigger. */
  trigger(trigger: Trigger): readonly string[];
  /** Runs one reading statement, which sees everything committed. Throws `AppError` only. */
  ask: SqlConnection['query'];
  /**
   * Begins a transaction that changes something. Only one runs at a time, among all processes that use the database.
   */
  beginChange(): Promise<SqlTransaction>;
  /**
   * How a change can be one statement: the call of a function that takes the lock of changes by `lockSql`. Missing if the
   * database is in this process, where several statements cost no more than one.
   */
  readonly oneStatement?: OneStatement | undefined;
  /**
   * Runs a change whose statements are executed in one turn of this thread. Durable when it resolves. Resolves with
   * `undefined` if another process holds the database: then nothing was changed. Missing if the database is not in this
   * process.
   */
  oneTurn?<T>(work: (query: QueryAtOnce) => T): Promise<T | undefined>;
  /** Begins a read-only transaction on a consistent snapshot. */
  beginRead(): Promise<SqlTransaction>;
  /** Whether nothing was stored and a retry may succeed, as after a deadlock. */
  isTransient(thrown: unknown): boolean;
  /** Called before a change is retried. Never rejects. */
  beforeRetry?(): Promise<void>;
}

interface OneStatement {
  readonly lockSql: string;
  run: SqlConnection['query'];
  /**
   * Takes the lock of changes and reads by `sql`, in one round trip, and then runs the statement that `make` makes of the
   * answer and commits, in another. Resolves with `undefined` if `make` makes none: then nothing was changed.
   */
  runAfter(sql: string, make: (answer: Result) => Statement | undefined): Promise<Result | undefined>;
}

/** A statement that the database runs in the same transaction after each changed row. */
export interface Trigger {
  readonly table: string;
  readonly event: 'INSERT' | 'UPDATE' | 'DELETE';
  /** One statement. `NEW` is the row after the change; for DELETE there is only `OLD`. */
  readonly sql: string;
}

export interface SqlConnection {
  /** Each `?` stands for one of the values. */
  query(sql: string, values?: readonly Value[]): Promise<Result>;
}

/** As `SqlConnection.query`, without waiting. The values must have been checked: see `checkStorable`. */
export type QueryAtOnce = (sql: string, values?: readonly Value[]) => Result;

/** A statement and its values. */
export type Statement = readonly [sql: string, values: readonly Value[]];

/** Throws `AppError` only. */
export interface SqlTransaction extends SqlConnection {
  /** Durable when it resolves. */
  commit(): Promise<void>;
  /** Never throws: if ROLLBACK fails, closing the connection undoes the transaction. */
  rollback(): Promise<void>;
}

export type Value = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

export interface Result {
  readonly rows: readonly StoredRow[];
  /** Rows read or changed. */
  readonly count: number;
}
