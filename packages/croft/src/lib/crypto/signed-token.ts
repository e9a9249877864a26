import { createHmac, timingSafeEqual } from 'node:crypto';

/** Longer than any token that Croft signs. */
const maxLength = 12_000;

/**
 * Signs a value. The holder of the token can read it but not change it. `about` prevents a token for one use from being
 * accepted for another.
 */
export function signToken(key: Buffer, about: string, value: unknown): string {
  const text = Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${text}.${sign(key, about, text).toString('base64url')}`;
}

/** Returns the signed value, or `undefined` if this key did not sign the token for `about`. */
export function openSignedToken(key: Buffer, about: string, token: string): unknown {
  const [text = '', signature = '', ...rest] = token.length > maxLength ? [] : token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const wanted = sign(key, about, text);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || rest.length > 0) return undefined;
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

function sign(key: Buffer, about: string, text: string): Buffer {
  return createHmac('sha256', key).update(about).update(text).digest();
}
