import { createHmac, timingSafeEqual } from 'node:crypto';

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

/** Longer than any path makes it. */
const maxLength = 12_000;
const about = 'croft link 1\0';

/** Who has the token can read what it says, and change nothing of it. */
export function signLink(key: Buffer, claims: LinkClaims): string {
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${text}.${sign(key, text).toString('base64url')}`;
}

/** `undefined` for what was not signed with this key, and for what is over. */
export function openLink(key: Buffer, token: string, now: number): LinkClaims | undefined {
  const [text = '', signature = '', ...rest] = token.length > maxLength ? [] : token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const wanted = sign(key, text);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || rest.length > 0) return undefined;
  // Nobody but us can have written it.
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as LinkClaims;
  return now < claims.expires * 1000 ? claims : undefined;
}

function sign(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(about).update(text).digest();
}
