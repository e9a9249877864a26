/** A running server of a database that several servers share. */
export interface ServerRow {
  /** New with each start. */
  readonly id: string;
  /** The URL at which other servers reach this server, such as `http://10.0.0.5:7070`. */
  readonly address: string;
  readonly host: string;
  /** Id of its data directory. */
  readonly directory: string;
  /** Version of the protocol between servers. */
  readonly protocol: number;
  /** Unlike the epoch of every other start. */
  readonly epoch: number;
  readonly beatAt: string;
}

export interface ServerTable {
  /** Inserts the row, or replaces it. */
  put(row: ServerRow): Promise<void>;
  /** False when there is no such row. */
  beat(id: string, beatAt: string): Promise<boolean>;
  all(): Promise<readonly ServerRow[]>;
  /** Removes the server with its leases, links of runners and counts. */
  remove(id: string): Promise<void>;
}

/** The server that serves a workspace of a bucket, or an agent without a workspace. */
export interface LeaseRow {
  readonly key: string;
  readonly serverId: string;
  /** Grows whenever the lease is taken. */
  readonly epoch: number;
}

export interface LeaseTable {
  get(key: string): Promise<LeaseRow | undefined>;
  put(row: LeaseRow): Promise<void>;
  of(serverId: string): Promise<readonly LeaseRow[]>;
  /** Removes exactly this lease. False when another server has taken it. */
  remove(row: LeaseRow): Promise<boolean>;
}

/** The server that has the link of a runner. */
export interface RunnerLinkRow {
  readonly accountId: string;
  readonly runner: string;
  readonly serverId: string;
  /** Grows with every new link of the runner. */
  readonly epoch: number;
  /** JSON: the runner as its account sees it. */
  readonly view: string;
}

export interface RunnerLinkTable {
  get(accountId: string, runner: string): Promise<RunnerLinkRow | undefined>;
  put(row: RunnerLinkRow): Promise<void>;
  ofServer(serverId: string): Promise<readonly RunnerLinkRow[]>;
  ofAccount(accountId: string): Promise<readonly RunnerLinkRow[]>;
  /** Changes the view of exactly this link. False when another server has the runner. */
  update(row: RunnerLinkRow): Promise<boolean>;
  remove(row: Pick<RunnerLinkRow, 'accountId' | 'runner' | 'serverId' | 'epoch'>): Promise<boolean>;
}

/** How many sandboxes of an account are open on a server. */
export interface SandboxCountRow {
  readonly serverId: string;
  readonly accountId: string;
  readonly open: number;
}

export interface SandboxCountTable {
  /** The counts of an account, on all servers. */
  of(accountId: string): Promise<readonly SandboxCountRow[]>;
  /** Removes the row of a count of 0. */
  put(row: SandboxCountRow): Promise<void>;
}
