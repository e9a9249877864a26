import type { Platform } from '../platform.ts';
import type { RouteCall } from '../route.ts';
import { keyIdOf } from './enter.ts';
import { type LinkClaims, signLink } from './link-token.ts';

export type LinkRequest = Pick<LinkClaims, 'path' | 'method' | 'maxBytes'> & { readonly expiresInSeconds: number };

/** Does not outlive the key it is made with. */
export function makeLink(
  { files, now = Date.now }: Platform,
  { actor, params }: RouteCall<{ readonly workspaceId: string }>,
  { expiresInSeconds, ...wanted }: LinkRequest,
  request: Request,
) {
  const { accountId, expiresAt: ends } = actor;
  const { workspaceId } = params;
  const at = Math.floor(now() / 1000) + expiresInSeconds;
  const expires = ends === undefined ? at : Math.min(at, Math.floor(Date.parse(ends) / 1000));
  const token = signLink(files.linkKey, { ...wanted, accountId, workspaceId, expires, keyId: keyIdOf(actor) });
  return {
    token,
    url: new URL(`/v1/links/${token}`, request.url).href,
    expiresAt: new Date(expires * 1000).toISOString(),
  };
}
