import { canonicalHost, isAddress } from '../host-name.ts';

export interface Target {
  /** Canonical spelling; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Stands for the target of a request that named no destination. */
export const unknownTarget: Target = { host: '', port: 0 };

/** Parses `host`, `host:port` or `[address]:port`. Returns `undefined` for everything else, such as `user@host`. */
export function parseAuthority(text: string, defaultPort?: number): Target | undefined {
  const [, written = '', digits] = /^(\[[^\]]+\]|[^:[\]]+)(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const host = canonicalHost(written);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port === undefined || port > 65_535 ? undefined : { host, port };
}

export interface RequestTarget extends Target {
  /** The path as the client wrote it; the server interprets it. */
  readonly path: string;
}

/** Parses a path, as sent inside a tunnel to a known server. */
export function parseOriginTarget(text: string, server: Target): RequestTarget | undefined {
  return /^\/[!-"$-~\x80-\xff]*$/.test(text) ? { ...server, path: text } : undefined;
}

/** Parses a full `http` URL. */
export function parseAbsoluteTarget(text: string): RequestTarget | undefined {
  const [, authority = '', path = ''] = /^http:\/\/([!-~]+?)([/?][!-"$-~\x80-\xff]*)?$/i.exec(text) ?? [];
  const target = /[/?#\\@]/.test(authority) ? undefined : parseAuthority(authority, 80);
  return target && { ...target, path: path.startsWith('/') ? path : `/${path}` };
}

export function formatAuthority({ host, port }: Target, defaultPort: number): string {
  const name = isAddress(host) && host.includes(':') ? `[${host}]` : host;
  return port === defaultPort ? name : `${name}:${port}`;
}
