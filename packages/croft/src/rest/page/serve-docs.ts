import { AppError } from '@croft/protocol';
import type { Context, Next } from 'hono';
import type { DocsFile, DocsFiles } from './docs-files.ts';

const folder = '/docs/';

/** Scripts, styles and pictures of this server alone; the documentation connects to nothing and posts nothing. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const always = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // Another version of Croft may answer the next request.
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
} as const;

/** Serves the documentation to everybody: it is the same everywhere, and has nothing of a workspace. */
export function createDocs(files: DocsFiles) {
  return async ({ req }: Context, next: Next): Promise<Response | undefined> => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (isRead && req.path === '/docs') return new Response(null, { status: 308, headers: { Location: folder } });
    if (!isRead || !req.path.startsWith(folder)) {
      await next();
      return undefined;
    }
    const name = req.path.slice(folder.length) || 'index.html';
    const file = await files.read(name);
    if (!file) throw new AppError('E_NOT_FOUND', 'the documentation has no such page', { hint: 'Begin at /docs/.' });
    return toAnswer(file, req.header('if-none-match'), req.header('accept-encoding'));
  };
}

function toAnswer({ type, etag, bytes, gzipped }: DocsFile, known = '', accepted = ''): Response {
  const headers = { ...always, ETag: etag };
  if (known.includes(etag)) return new Response(null, { status: 304, headers });
  const isCompressed = gzipped !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\b)/.test(accepted);
  const body = isCompressed ? gzipped : bytes;
  return new Response(body, {
    headers: {
      ...headers,
      'Content-Type': type,
      'Content-Length': String(body.length),
      ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    },
  });
}
