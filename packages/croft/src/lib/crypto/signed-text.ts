import { createHmac, timingSafeEqual } from 'node:crypto';

/** Longer than anything we sign. */
const maxLength = 12_000;

/** Who has it can read what it says, and change nothing of it. `about` keeps what was signed for one use from another. */
export function signText(key: Buffer, about: string, value: unknown): string {
  const text = Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${text}.${sign(key, about, text).toString('base64url')}`;
}

/** `undefined` for what was not signed so with this key. */
export function openSigned(key: Buffer, about: string, token: string): unknown {
  const [text = '', signature = '', ...rest] = token.length > maxLength ? [] : token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const wanted = sign(key, about, text);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || rest.length > 0) return undefined;
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

function sign(key: Buffer, about: string, text: string): Buffer {
  return createHmac('sha256', key).update(about).update(text).digest();
}
