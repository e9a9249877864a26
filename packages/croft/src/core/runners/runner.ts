/** What a runner says of itself when it connects. Not trusted for anything but its own sandboxes. */
export interface RunnerReport {
  /** What its operator takes it for. It has to be what its token says; left out, that is what it is. */
  readonly name?: string | undefined;
  /** Of the program. */
  readonly version: string;
  readonly provider: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Sandboxes it takes at once. */
  readonly capacity: number;
  /** Workspaces it has by name. */
  readonly workspaces: readonly string[];
  /** Whether it makes new ones. */
  readonly makesWorkspaces: boolean;
}

export interface RunnerLoad {
  readonly sandboxes: number;
  /** Of the machine, over a minute, per core. */
  readonly cpu: number;
}

/** `reconnecting`: cut off, and what it had under way is waited for. */
export type RunnerState = 'online' | 'reconnecting' | 'offline';

/** A runner as its account sees it. Its token is nowhere. */
export interface RunnerView {
  readonly runnerId: string;
  readonly name: string;
  readonly state: RunnerState;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  /** As it said when it last connected to this server. */
  readonly report?: RunnerReport | undefined;
  readonly load?: RunnerLoad | undefined;
  readonly connectedAt?: string | undefined;
  readonly lastSeenAt?: string | undefined;
  readonly lastError?: string | undefined;
}

/** Which runner a sandbox runs on: one by its name, or any that has these labels. */
export interface RunnerChoice {
  readonly runner?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}
