import { isAscii, isUtf8 } from 'node:buffer';

/** A byte that is no UTF-8 is the second half of a surrogate pair without the first, as nothing that is UTF-8 has. */
const halfPair = 0xdc00;
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const longest = 4;

/** The text for the bytes of a path or name: another for each, and what a person would read where it is UTF-8. */
export function pathFromBytes(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString();
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const size = measureCharacter(bytes, at);
    text += size === 0 ? String.fromCharCode(halfPair | (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + size);
    at += size || 1;
  }
  return text;
}

/** The bytes that `pathFromBytes` was given. Throws a `RangeError` for a text that it never answers. */
export function bytesFromPath(path: string): Buffer {
  if (!lone.test(path)) return Buffer.from(path);
  const parts: Buffer[] = [];
  for (const character of path) parts.push(toBytes(character));
  return Buffer.concat(parts);
}

function toBytes(character: string): Buffer {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0xd800 || code > 0xdfff) return Buffer.from(character);
  if (code < (halfPair | 0x80) || code > (halfPair | 0xff)) {
    throw new RangeError('the path holds half a character, which no file has in its name: write it whole');
  }
  return Buffer.of(code & 0xff);
}

/** How many bytes the character that begins here has; 0 if none does. */
function measureCharacter(bytes: Buffer, at: number): number {
  for (let size = 1; size <= longest && at + size <= bytes.length; size++) {
    if (isUtf8(bytes.subarray(at, at + size))) return size;
  }
  return 0;
}
