/**
 * Limits of a server that its operator sets. `cli/serve/bound-options.ts` has the flags, with the meaning of each
 * limit.
 */
export interface ServerBounds {
  readonly account: AccountBounds;
  readonly server: SharedBounds;
  readonly times: ServerTimes;
  /** With less free space than this on the disk of the data directory, files of accounts may not grow. */
  readonly minFreeBytes: number;
}

/** Limits per account. */
export interface AccountBounds {
  /** Sandboxes open at once, on all servers together. */
  readonly sandboxes: number;
  /** Bytes in all workspaces together, with their caches, forks and histories. */
  readonly storageBytes: number;
  readonly requestsPerMinute: number;
  readonly agents: number;
  readonly definedSandboxes: number;
  readonly workspaces: number;
  /** Keys that are valid. */
  readonly keys: number;
  readonly runners: number;
  readonly secrets: number;
  readonly sessions: number;
  /** Terminals open at once. */
  readonly terminals: number;
  /** Streams of file changes that are open at once. */
  readonly watches: number;
  /** Connections of clients that speak MCP 2025. */
  readonly connections: number;
  /** Calls of one agent that wait for an approval. */
  readonly waitingCalls: number;
}

export interface SharedBounds {
  /** Requests per address without a known key. */
  readonly refusalsPerMinute: number;
  /** The body of one request. Uploads have a limit of their own. */
  readonly requestBytes: number;
  /** Connections of clients that speak MCP 2025, at `/mcp`. */
  readonly connections: number;
}

export interface ServerTimes {
  /** Time for calls in progress when the server is asked to stop. */
  readonly drainMs: number;
  readonly sandboxIdleMs: number;
  readonly sessionIdleMs: number;
  /** Time for a person to decide, and for the call to be made after that. */
  readonly approvalMs: number;
  /** How long a terminal survives a cut connection. */
  readonly terminalGraceMs: number;
  /** How long a runner may be away and still remove the files of removed workspaces when it returns. */
  readonly removalMs: number;
}

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;

export const defaultBounds: ServerBounds = {
  account: {
    ...{ sandboxes: 100, storageBytes: 100 * 1024 ** 3, requestsPerMinute: 1200 },
    ...{ agents: 1000, definedSandboxes: 1000, workspaces: 1000, keys: 100, runners: 100, secrets: 1000 },
    ...{ sessions: 10_000, terminals: 50, watches: 50, connections: 1000, waitingCalls: 100 },
  },
  server: { refusalsPerMinute: 600, requestBytes: 16 * 1024 ** 2, connections: 5000 },
  times: {
    drainMs: 10 * secondMs,
    sandboxIdleMs: 10 * minuteMs,
    sessionIdleMs: 7 * dayMs,
    approvalMs: 60 * minuteMs,
    terminalGraceMs: 5 * minuteMs,
    removalMs: 90 * dayMs,
  },
  minFreeBytes: 256 * 1024 ** 2,
};
