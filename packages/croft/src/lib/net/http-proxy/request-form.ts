import type { IncomingMessage } from 'node:http';
import { valuesOf } from './headers.ts';
import { deny, type Refusal } from './refusal.ts';
import {
  formatAuthority,
  nowhere,
  parseAbsoluteTarget,
  parseAuthority,
  parseOriginTarget,
  type RequestTarget,
  type Target,
} from './target.ts';

/**
 * Where a request goes, if everybody who reads it would say the same: a whole URL or, in a tunnel, a path; one Host
 * header that agrees with it; one way to tell where the body ends. The parser has refused two of those already.
 */
export function readTarget(request: IncomingMessage, inTunnelTo: Target | undefined): RequestTarget | Refusal {
  const url = request.url ?? '';
  const target = inTunnelTo ? parseOriginTarget(url, inTunnelTo) : parseAbsoluteTarget(url);
  if (!target) return toFormRefusal(url, inTunnelTo);
  return findDisagreement(request, target) ?? findEncoding(request, target) ?? target;
}

function toFormRefusal(url: string, inTunnelTo: Target | undefined): Refusal {
  return deny({ ...(inTunnelTo ?? nowhere), rule: 'request-form', reason: toForm(url, inTunnelTo) }, 400);
}

function toForm(url: string, inTunnelTo: Target | undefined): string {
  if (inTunnelTo) return 'In a tunnel, send the path alone (GET /path).';
  if (/^(?!http:)[a-z][a-z0-9+.-]*:/i.test(url)) return 'This proxy takes http:// requests and CONNECT, nothing else.';
  return 'This is a proxy: send the whole URL (GET http://host/path), without user and password, or CONNECT host:443.';
}

/** A server that goes by the header would be another than the one that was judged. */
function findDisagreement({ rawHeaders, httpVersion }: IncomingMessage, target: Target): Refusal | undefined {
  const hosts = valuesOf(rawHeaders, 'host');
  if (hosts.length === 0 && httpVersion === '1.0') return undefined;
  const named = hosts.length === 1 ? parseAuthority(hosts[0] ?? '', 80) : undefined;
  if (named?.host === target.host && named.port === target.port) return undefined;
  const reason = `The Host header and the URL name different servers; the URL names ${formatAuthority(target, 80)}.`;
  return deny({ ...target, rule: 'host-header', reason }, 400);
}

/** The parser takes `gzip, chunked` too, and tells of an unknown one only after the request has been handed over. */
function findEncoding({ rawHeaders }: IncomingMessage, target: Target): Refusal | undefined {
  const encodings = valuesOf(rawHeaders, 'transfer-encoding');
  if (encodings.length === 0 || (encodings.length === 1 && encodings[0]?.toLowerCase() === 'chunked')) return undefined;
  const reason = 'A body may be sent with a Content-Length or chunked, in no other Transfer-Encoding.';
  return deny({ ...target, rule: 'request-form', reason }, 400);
}
