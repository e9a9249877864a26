import { AppError } from '@croft/protocol';
import type { Platform } from '../platform.ts';
import { download } from './download.ts';
import { enter } from './enter.ts';
import { type LinkClaims, openLink } from './link-token.ts';
import { isKeyGood } from './may-go-on.ts';
import { upload } from './upload.ts';
import type { Visit } from './visit.ts';

/** The token of an address that is a link: `/v1/links/…`, and `/v1/downloads/…` for those that only read. */
export function readLinkPath(path: string): { readonly token: string; readonly onlyReads: boolean } | undefined {
  const [, place, token] = /^\/v1\/(links|downloads)\/([\w.-]+)$/.exec(path) ?? [];
  return token === undefined ? undefined : { token, onlyReads: place === 'downloads' };
}

export interface LinkUse {
  readonly token: string;
  readonly onlyReads: boolean;
  readonly request: Request;
  /** Links are their account's requests as well. */
  mustBeWithinRate(accountId: string): void;
}

/** Without a key: who has the link may do the one thing it is for. Why one is not good is nobody's business. */
export async function serveLink(platform: Platform, use: LinkUse): Promise<Response> {
  const claims = readClaims(platform, use);
  use.mustBeWithinRate(claims.accountId);
  const visit = await enterBy(platform, claims, use.request);
  const response =
    claims.method === 'GET'
      ? await download(visit, claims.path, use.request)
      : await upload(visit, claims.path, use.request, claims.maxBytes);
  for (const [name, value] of Object.entries(linkHeaders)) response.headers.set(name, value);
  return response;
}

const linkHeaders = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};

function readClaims({ files, now = Date.now }: Platform, { token, onlyReads, request }: LinkUse): LinkClaims {
  const claims = openLink(files.linkKey, token, now());
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (!claims || claims.method !== method || (onlyReads && claims.method !== 'GET')) throw noLink();
  return claims;
}

async function enterBy(platform: Platform, claims: LinkClaims, { signal }: Request): Promise<Visit> {
  const { accountId, workspaceId, keyId } = claims;
  if (!(await isKeyGood(platform, accountId, keyId))) throw noLink();
  return enter(platform, { accountId, workspaceId, label: `link of key ${keyId}`, signal }).catch((thrown) => {
    throw AppError.is(thrown) && thrown.code === 'E_NOT_FOUND' ? noLink() : thrown;
  });
}

function noLink(): AppError {
  return new AppError('E_NOT_FOUND', 'Link not found');
}
