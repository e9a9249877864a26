import type { IncomingMessage } from 'node:http';
import { headerValues } from './drop-hop-by-hop-headers.ts';
import { type Refusal, toPolicyRefusal } from './proxy-refusal.ts';
import {
  formatAuthority,
  parseAbsoluteTarget,
  parseAuthority,
  parseOriginTarget,
  type RequestTarget,
  type Target,
  unknownTarget,
} from './proxy-target.ts';

/**
 * Returns the target of a request if every HTTP parser would read the same: a full URL or, in a tunnel, a path; one
 * Host header that agrees with it; one transfer encoding at most. Node's parser has already refused conflicting body
 * lengths.
 */
export function readRequestTarget(request: IncomingMessage, inTunnelTo: Target | undefined): RequestTarget | Refusal {
  const url = request.url ?? '';
  const target = inTunnelTo ? parseOriginTarget(url, inTunnelTo) : parseAbsoluteTarget(url);
  if (!target) return toFormRefusal(url, inTunnelTo);
  return findDisagreement(request, target) ?? findEncoding(request, target) ?? target;
}

function toFormRefusal(url: string, inTunnelTo: Target | undefined): Refusal {
  return toPolicyRefusal(
    { ...(inTunnelTo ?? unknownTarget), rule: 'request-form', reason: toForm(url, inTunnelTo) },
    400,
  );
}

function toForm(url: string, inTunnelTo: Target | undefined): string {
  if (inTunnelTo) return 'In a tunnel, send the path alone (GET /path).';
  if (/^(?!http:)[a-z][a-z0-9+.-]*:/i.test(url)) return 'This proxy takes http:// requests and CONNECT, nothing else.';
  return 'This is a proxy: send the whole URL (GET http://host/path), without user and password, or CONNECT host:443.';
}

/**
 * Refuses a Host header that names another server than the URL: the server might follow the header, and only the URL
 * was judged.
 */
function findDisagreement({ rawHeaders, httpVersion }: IncomingMessage, target: Target): Refusal | undefined {
  const hosts = headerValues(rawHeaders, 'host');
  if (hosts.length === 0 && httpVersion === '1.0') return undefined;
  const named = hosts.length === 1 ? parseAuthority(hosts[0] ?? '', 80) : undefined;
  if (named?.host === target.host && named.port === target.port) return undefined;
  const reason = `The Host header and the URL name different servers; the URL names ${formatAuthority(target, 80)}.`;
  return toPolicyRefusal({ ...target, rule: 'host-header', reason }, 400);
}

/**
 * Refuses every encoding but `chunked`. Node's parser also accepts `gzip, chunked`, and reports an unknown encoding
 * only after it has passed the request on.
 */
function findEncoding({ rawHeaders }: IncomingMessage, target: Target): Refusal | undefined {
  const encodings = headerValues(rawHeaders, 'transfer-encoding');
  if (encodings.length === 0 || (encodings.length === 1 && encodings[0]?.toLowerCase() === 'chunked')) return undefined;
  const reason = 'A body may be sent with a Content-Length or chunked, in no other Transfer-Encoding.';
  return toPolicyRefusal({ ...target, rule: 'request-form', reason }, 400);
}
