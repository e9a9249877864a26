import { openSignedToken, signToken } from '../../lib/crypto/signed-token.ts';

/** Everything that a file link allows. */
export interface FileLinkClaims {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly path: string;
  readonly method: 'GET' | 'PUT';
  /** Seconds since 1970. */
  readonly expires: number;
  /** The key that made the link. The link ends with that key. */
  readonly keyId: string;
  readonly maxBytes?: number | undefined;
}

const about = 'croft link 1\0';

/** Anybody with the token can read its claims, but cannot change them. */
export function signFileLink(key: Buffer, claims: FileLinkClaims): string {
  return signToken(key, about, claims);
}

/** Returns `undefined` for a token that was not signed with this key, or that has expired. */
export function openFileLink(key: Buffer, token: string, now: number): FileLinkClaims | undefined {
  // The signature is valid, so that this server wrote the claims.
  const claims = openSignedToken(key, about, token) as FileLinkClaims | undefined;
  return claims && now < claims.expires * 1000 ? claims : undefined;
}
