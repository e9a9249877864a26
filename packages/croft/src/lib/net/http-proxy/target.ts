import { canonicalHost, isAddress } from '../host-name.ts';

export interface Target {
  /** Canonical; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Of a request that did not say where it wanted to go. */
export const nowhere: Target = { host: '', port: 0 };

/** Reads `host`, `host:port` or `[address]:port`; nothing for everything else, such as `user@host`. */
export function parseAuthority(text: string, defaultPort?: number): Target | undefined {
  const [, written = '', digits] = /^(\[[^\]]+\]|[^:[\]]+)(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const host = canonicalHost(written);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port === undefined || port > 65_535 ? undefined : { host, port };
}

export interface RequestTarget extends Target {
  /** As it was written, for the server to make sense of. */
  readonly path: string;
}

/** Reads a path alone, which only makes sense where the server is known. */
export function parseOriginTarget(text: string, server: Target): RequestTarget | undefined {
  return /^\/[!-"$-~\x80-\xff]*$/.test(text) ? { ...server, path: text } : undefined;
}

/** Reads a whole `http` URL. */
export function parseAbsoluteTarget(text: string): RequestTarget | undefined {
  const [, authority = '', path = ''] = /^http:\/\/([!-~]+?)([/?][!-"$-~\x80-\xff]*)?$/i.exec(text) ?? [];
  const target = /[/?#\\@]/.test(authority) ? undefined : parseAuthority(authority, 80);
  return target && { ...target, path: path.startsWith('/') ? path : `/${path}` };
}

export function formatAuthority({ host, port }: Target, defaultPort: number): string {
  const name = isAddress(host) && host.includes(':') ? `[${host}]` : host;
  return port === defaultPort ? name : `${name}:${port}`;
}
