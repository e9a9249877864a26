/** The report of a runner about itself when it connects. Trusted only for its own sandboxes. */
export interface RunnerReport {
  /** The name that its operator gave it. Must match its token; absent, the name of the token is used. */
  readonly name?: string | undefined;
  /** Version of the program. */
  readonly version: string;
  readonly provider: string;
  readonly labels: Readonly<Record<string, string>>;
  /** How many sandboxes it runs at once. */
  readonly capacity: number;
  /** Names of the directories it serves as workspaces. */
  readonly workspaces: readonly string[];
  /** Whether it creates new workspaces. */
  readonly makesWorkspaces: boolean;
}

export interface RunnerLoad {
  readonly sandboxes: number;
  /** CPU load of the machine over one minute, per core. */
  readonly cpu: number;
}

/** `reconnecting`: the connection is lost, and calls in progress wait for it to return. */
export type RunnerState = 'online' | 'reconnecting' | 'offline';

/** A runner as its account sees it, without its token. */
export interface RunnerView {
  readonly runnerId: string;
  readonly name: string;
  readonly state: RunnerState;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  /** The report of the runner when it last connected to this server. */
  readonly report?: RunnerReport | undefined;
  readonly load?: RunnerLoad | undefined;
  readonly connectedAt?: string | undefined;
  readonly lastSeenAt?: string | undefined;
  readonly lastError?: string | undefined;
  /**
   * The last time that another machine was refused because it used this runner's token while the runner was connected.
   */
  readonly lastRefused?: { readonly at: string; readonly address: string } | undefined;
}

/** The runner of a sandbox: by name, or any runner with these labels. */
export interface RunnerChoice {
  readonly runner?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}
