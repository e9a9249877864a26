import { randomBytes } from 'node:crypto';
import type { Context, Next } from 'hono';
import type { PageAsset, PageFiles } from './page-files.ts';

/** Addresses for which the page is sent. The page itself reads the address, and says if there is nothing. */
const views = /^\/(?:(?:approvals|workspaces|agents)(?:\/.*)?|machines|audit|keys|terminal)?$/;
const assets = '/assets/';

const always = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Serves the page for people. Programs that ask for the same addresses, without `text/html`, get JSON as before. */
export function createPage({ document, assets: files }: PageFiles) {
  return async ({ req }: Context, next: Next): Promise<Response | undefined> => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return passOn(next);
    if (views.test(req.path) && wantsHtml(req.header('accept'))) return toDocument(document);
    const asset = req.path.startsWith(assets) ? files.get(req.path.slice(assets.length)) : undefined;
    return asset ? toAnswer(asset, req.header('accept-encoding')) : passOn(next);
  };
}

async function passOn(next: Next): Promise<undefined> {
  await next();
}

function wantsHtml(accept = ''): boolean {
  return /\btext\/html\b/.test(accept);
}

function toDocument(document: string): Response {
  const nonce = randomBytes(18).toString('base64');
  return new Response(document.replace('%NONCE%', nonce), {
    headers: {
      ...always,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': toPolicy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'X-Frame-Options': 'DENY',
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    },
  });
}

/** Scripts only from files of this server. The nonce is for styles of the terminal, which makes them as it goes. */
function toPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function toAnswer({ type, bytes, encoded }: PageAsset, accepted = ''): Response {
  const coding = Object.keys(encoded).find((name) =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\b)`).test(accepted),
  );
  const body = (coding && encoded[coding]) || bytes;
  return new Response(body, {
    headers: {
      ...always,
      'Content-Type': type,
      'Content-Length': String(body.length),
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(coding && { 'Content-Encoding': coding }),
    },
  });
}
