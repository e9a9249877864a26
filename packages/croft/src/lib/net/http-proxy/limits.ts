/** What one proxy may cost the process it runs in. */
export interface ProxyLimits {
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  /** For finding and reaching a server, together. */
  readonly connectTimeoutMs: number;
  /** Within which a tunnel says who it is for. */
  readonly helloTimeoutMs: number;
  /** After which a connection nobody uses is closed. */
  readonly idleTimeoutMs: number;
  /** Of everything, in both directions, for as long as the proxy runs. */
  readonly maxTotalBytes: number;
}

export const defaultLimits: ProxyLimits = {
  maxConnections: 128,
  maxHeaderBytes: 32 * 1024,
  connectTimeoutMs: 10_000,
  helloTimeoutMs: 10_000,
  idleTimeoutMs: 300_000,
  maxTotalBytes: Number.POSITIVE_INFINITY,
};
