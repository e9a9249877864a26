import type { RestPlatform } from '../platform/rest-platform.ts';
import type { RouteCall } from '../platform/route.ts';
import { type FileLinkClaims, signFileLink } from './file-link-token.ts';
import { keyIdOf } from './open-audited-file-access.ts';

type FileLinkRequest = Pick<FileLinkClaims, 'path' | 'method' | 'maxBytes'> & {
  readonly expiresInSeconds: number;
};

/** Makes a file link. The link expires with the key that makes it, if not before. */
export function makeFileLink(
  { files, now = Date.now }: RestPlatform,
  { actor, params }: RouteCall<{ readonly workspaceId: string }>,
  { expiresInSeconds, ...wanted }: FileLinkRequest,
  request: Request,
) {
  const { accountId, expiresAt: ends } = actor;
  const { workspaceId } = params;
  const at = Math.floor(now() / 1000) + expiresInSeconds;
  const expires = ends === undefined ? at : Math.min(at, Math.floor(Date.parse(ends) / 1000));
  const token = signFileLink(files.linkKey, { ...wanted, accountId, workspaceId, expires, keyId: keyIdOf(actor) });
  return {
    token,
    url: new URL(`/v1/links/${token}`, request.url).href,
    expiresAt: new Date(expires * 1000).toISOString(),
  };
}
