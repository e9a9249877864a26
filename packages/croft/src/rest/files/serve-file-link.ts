import { AppError } from '@croft/protocol';
import type { RestPlatform } from '../platform/rest-platform.ts';
import type { AuditedFileAccess } from './audited-file-access.ts';
import { download } from './download.ts';
import { type FileLinkClaims, openFileLink } from './file-link-token.ts';
import { isKeyActive } from './is-key-active.ts';
import { openAuditedFileAccess } from './open-audited-file-access.ts';
import { upload } from './upload.ts';

/** Returns the token of a file link: `/v1/links/…`, or `/v1/downloads/…` for links that only read. */
export function readFileLinkPath(path: string): { readonly token: string; readonly onlyReads: boolean } | undefined {
  const [, segment, token] = /^\/v1\/(links|downloads)\/([\w.-]+)$/.exec(path) ?? [];
  return token === undefined ? undefined : { token, onlyReads: segment === 'downloads' };
}

export interface FileLinkUse {
  readonly token: string;
  readonly onlyReads: boolean;
  /** Asked for after `serveElsewhere`, which may have read the body. */
  request(): Request;
  /** Requests by file links count for their account's rate limit. */
  mustBeWithinRate(accountId: string): void;
  /** Returns the answer of the server that has the workspace, if it is another one. Throws `E_NOT_FOUND`. */
  serveElsewhere(accountId: string, workspaceId: string): Promise<Response | undefined>;
}

/**
 * Serves a request without a key: anybody with the link may do the one thing it allows. Every invalid link gets the
 * same answer, which does not say why.
 */
export async function serveFileLink(platform: RestPlatform, use: FileLinkUse): Promise<Response> {
  const claims = readClaims(platform, use);
  use.mustBeWithinRate(claims.accountId);
  await mustBeActive(platform, claims);
  const elsewhere = await use.serveElsewhere(claims.accountId, claims.workspaceId).catch(hideReason);
  if (elsewhere) return elsewhere;
  const request = use.request();
  const visit = await enterBy(platform, claims, request);
  const response =
    claims.method === 'GET'
      ? await download(visit, claims.path, request)
      : await upload(visit, claims.path, request, claims.maxBytes);
  for (const [name, value] of Object.entries(linkHeaders)) response.headers.set(name, value);
  return response;
}

const linkHeaders = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};

function readClaims(
  { files, now = Date.now }: RestPlatform,
  { token, onlyReads, request }: FileLinkUse,
): FileLinkClaims {
  const claims = openFileLink(files.linkKey, token, now());
  const method = request().method === 'HEAD' ? 'GET' : request().method;
  if (!claims || claims.method !== method || (onlyReads && claims.method !== 'GET')) throw noLink();
  return claims;
}

async function mustBeActive(platform: RestPlatform, { accountId, keyId }: FileLinkClaims): Promise<void> {
  if (!(await isKeyActive(platform, accountId, keyId))) throw noLink();
}

async function enterBy(
  platform: RestPlatform,
  claims: FileLinkClaims,
  { signal }: Request,
): Promise<AuditedFileAccess> {
  const { accountId, workspaceId, keyId } = claims;
  return openAuditedFileAccess(platform, { accountId, workspaceId, label: `link of key ${keyId}`, signal }).catch(
    hideReason,
  );
}

function hideReason(thrown: unknown): never {
  throw AppError.is(thrown) && thrown.code === 'E_NOT_FOUND' ? noLink() : thrown;
}

function noLink(): AppError {
  return new AppError('E_NOT_FOUND', 'Link not found', {
    hint: 'The link is wrong, has expired, or its key was revoked. Ask the person who made it for a new one.',
  });
}
