/** What SQLite and PostgreSQL have in common, and all that the tables need of either. */
export interface Database extends AsyncDisposable {
  readonly name: string;
  /** How long anything here may take: connecting, waiting for a lock, one statement, a whole piece of work. */
  readonly deadlineMs: number;
  /** The type of a column whose texts compare byte by byte, so that both put them in the same order. */
  readonly textType: string;
  /** Of the tables in the place that is ours, before anything is changed in it. */
  readonly tableNames: string;
  /** One at a time, whoever else uses the database. */
  beginChange(): Promise<Transaction>;
  /** Sees one state of everything, and changes nothing. */
  beginRead(): Promise<Transaction>;
  /** Whether nothing was kept and the same again may work, as after a deadlock. */
  isPassing(thrown: unknown): boolean;
}

export interface Connection {
  /** `?` stands for a value. */
  query(sql: string, values?: readonly Value[]): Promise<Result>;
}

/** Throws `AppError` only. */
export interface Transaction extends Connection {
  /** Durable when it resolves. */
  commit(): Promise<void>;
  /** Never throws: what cannot be undone in words is undone by ending the connection. */
  rollback(): Promise<void>;
}

export type Value = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

export interface Result {
  readonly rows: readonly StoredRow[];
  /** Rows read or changed. */
  readonly count: number;
}
