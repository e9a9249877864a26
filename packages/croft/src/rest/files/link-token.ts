import { openSigned, signText } from '../../lib/crypto/signed-text.ts';

/** What a link is good for, and nothing else. */
export interface LinkClaims {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly path: string;
  readonly method: 'GET' | 'PUT';
  /** In seconds since 1970. */
  readonly expires: number;
  /** The key it was made with: it ends with that. */
  readonly keyId: string;
  readonly maxBytes?: number | undefined;
}

const about = 'croft link 1\0';

/** Who has the token can read what it says, and change nothing of it. */
export function signLink(key: Buffer, claims: LinkClaims): string {
  return signText(key, about, claims);
}

/** `undefined` for what was not signed with this key, and for what is over. */
export function openLink(key: Buffer, token: string, now: number): LinkClaims | undefined {
  // Nobody but us can have written it.
  const claims = openSigned(key, about, token) as LinkClaims | undefined;
  return claims && now < claims.expires * 1000 ? claims : undefined;
}
