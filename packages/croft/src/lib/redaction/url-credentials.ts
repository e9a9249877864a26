import { createCharClass } from './char-class.ts';
import type { Span } from './spans.ts';

export const urlLabel = 'basic-auth-url';
const maxUserInfoChars = 512;
const isSchemeChar = createCharClass('A-Za-z0-9+.-');
const isHostChar = createCharClass('A-Za-z0-9_.[-');
const isStop = createCharClass('\0- "\'`<>\\(){}|^,;/');

/** Finds the user and password in URLs such as `redis://:pw@host`. */
export function findUrlCredentials(text: string, found: Span[]): void {
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 1)) {
    const start = at + 3;
    const end = isSchemeChar(text.charCodeAt(at - 1)) ? userInfoEnd(text, start) : undefined;
    if (end !== undefined && isCredentials(text.slice(start, end)) && isHostAt(text, end + 1))
      found.push({ start, end, name: urlLabel });
  }
}

/** Rejects container image digests, which have the same shape: docker://name:tag@sha256:… */
function isHostAt(text: string, start: number): boolean {
  return isHostChar(text.charCodeAt(start)) && !text.startsWith('sha256:', start);
}

/** Returns the position of the `@` that ends the user information; an `@` after a port or in a path does not. */
function userInfoEnd(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + maxUserInfoChars);
  let last: number | undefined;
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (isStop(code)) return last;
    if (isQueryStart(code) && isHost(text.slice(start, at))) return last;
    if (code === 0x40) last = at;
  }
  return last;
}

function isQueryStart(code: number): boolean {
  return code === 0x3f || code === 0x23;
}

function isHost(text: string): boolean {
  return /^[\w.[\]-]*(?::\d*)?$/.test(text);
}

/** Rejects placeholders such as `$PASSWORD` or `%s`, and the address `[::1]`. */
function isCredentials(userInfo: string): boolean {
  const colon = userInfo.startsWith('[') ? -1 : userInfo.indexOf(':');
  const password = userInfo.slice(colon + 1);
  return colon >= 0 && password !== '' && !/^(?:\$|%[a-z]?$|\*+$|\[REDACTED)/.test(password);
}
