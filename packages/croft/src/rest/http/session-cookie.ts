import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { AppError } from '@croft/protocol';
import { hostName, pageHost } from './guards.ts';

/** The cookie of a browser session, as one request sees it. */
export interface SessionCookie {
  /** The secret of the session. Throws `E_FORBIDDEN` if the request does not come from Croft's own page. */
  read(): string | undefined;
  /** The header that gives the browser a cookie. Throws `E_FORBIDDEN` where others could read it. */
  write(secret: string): string;
  /** The header that takes the cookie away. */
  clear(): string;
}

/** Only a page that was opened by HTTPS can set a cookie of this prefix. */
const secureName = '__Host-croft';
const weekSeconds = 7 * 24 * 60 * 60;
const secretPattern = /^[\w-]{1,100}$/;

export function toSessionCookie(request: Request, env: unknown): SessionCookie {
  const { headers } = request;
  const isSecure = isEncrypted(env) || headers.get('origin')?.startsWith('https://') === true;
  const host = headers.get('host') ?? '';
  // Cookies ignore ports: the name has the port, so that two servers of a machine do not sign each other out.
  const plainName = `croft-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;
  const name = isSecure ? secureName : plainName;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read() {
      const cookies = parseCookies(headers.get('cookie') ?? '');
      const secret = cookies.get(secureName) ?? (hostName(host) === pageHost ? cookies.get(plainName) : undefined);
      if (secret === undefined || !secretPattern.test(secret)) return undefined;
      mustBeOwnPage(request);
      return secret;
    },
    write(secret) {
      if (!isSecure) mustBeOnLoopback(host, env);
      return `${name}=${secret}; ${attributes}; Max-Age=${weekSeconds}`;
    },
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
  };
}

/**
 * Throws unless a browser says that the request comes from a page of this very origin. For everything but a read, the
 * page must also say so itself, by a header that no form of another page can send.
 */
export function mustBeOwnPage({ method, headers, url }: Request): void {
  const isRead = method === 'GET' || method === 'HEAD';
  const isSame = headers.get('sec-fetch-site') === 'same-origin';
  const isOwn = headers.get('croft-page') === '1' && isOwnOrigin(headers.get('origin'), new URL(url).host);
  if (isSame && (isRead || isOwn)) return;
  throw new AppError('E_FORBIDDEN', 'a browser session counts only for requests of Croft’s own page', {
    hint: 'Send Authorization: Bearer with a key, or use the page.',
  });
}

function isOwnOrigin(origin: string | null, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** Other apps of the machine are at 127.0.0.1 and localhost too, and would get the cookie. */
function mustBeOnLoopback(host: string, env: unknown): void {
  if (hostName(host) === pageHost && isLoopback(addressOf(env))) return;
  const port = /:\d+$/.exec(host)?.[0] ?? '';
  throw new AppError('E_FORBIDDEN', `over plain HTTP a browser can sign in at http://${pageHost}${port} only`, {
    details: { page: `http://${pageHost}${port}/` },
    hint: `Open http://${pageHost}${port}/ on the machine of the server, or serve HTTPS (--tls-cert).`,
  });
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}

interface NodeEnvironment {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

function isEncrypted(env: unknown): boolean {
  return (env as NodeEnvironment | undefined)?.incoming?.socket instanceof TLSSocket;
}

function addressOf(env: unknown): string {
  return (env as NodeEnvironment | undefined)?.incoming?.socket?.remoteAddress ?? '';
}

/** The first cookie of a name counts, as it has the longest path. */
function parseCookies(header: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of header.slice(0, 8192).split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at > 0 && !found.has(name)) found.set(name, part.slice(at + 1).trim());
  }
  return found;
}
