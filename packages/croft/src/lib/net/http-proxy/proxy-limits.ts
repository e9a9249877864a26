/** Limits of what one proxy may cost the server process. */
export interface ProxyLimits {
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  /** For name resolution and connecting together. */
  readonly connectTimeoutMs: number;
  /** Time within which the client must send a complete TLS hello or request header. */
  readonly helloTimeoutMs: number;
  /** Idle time after which a connection is closed. */
  readonly idleTimeoutMs: number;
  /** Total bytes in both directions over the life of the proxy. */
  readonly maxTotalBytes: number;
}

export const defaultProxyLimits: ProxyLimits = {
  maxConnections: 128,
  maxHeaderBytes: 32 * 1024,
  connectTimeoutMs: 10_000,
  helloTimeoutMs: 10_000,
  idleTimeoutMs: 300_000,
  maxTotalBytes: Number.POSITIVE_INFINITY,
};
