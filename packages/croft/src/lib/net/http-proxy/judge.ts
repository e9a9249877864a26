export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly rule: string; readonly reason: string };

/** What a proxy asks before it reaches out. Hosts and addresses come in their canonical spelling. */
export interface Judge {
  host(host: string, port: number): Verdict;
  address(address: string, port: number): Verdict;
}

/** A connection that was refused. `host` is empty when the request did not say where it wanted to go. */
export interface Denial {
  readonly host: string;
  readonly port: number;
  readonly rule: string;
  readonly reason: string;
}
