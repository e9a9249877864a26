export type ConnectionVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly rule: string; readonly reason: string };

/** Decides whether the proxy may connect to a host and to an address. Both arguments are in canonical spelling. */
export interface ConnectionJudge {
  host(host: string, port: number): ConnectionVerdict;
  address(address: string, port: number): ConnectionVerdict;
}

/** A refused connection. `host` is empty if the request named no destination. */
export interface ProxyDenial {
  readonly host: string;
  readonly port: number;
  readonly rule: string;
  readonly reason: string;
}
