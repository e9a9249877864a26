import { isAscii, isUtf8 } from 'node:buffer';

/** A byte that is not UTF-8 becomes a lone low surrogate, which never occurs in decoded UTF-8. */
const halfPair = 0xdc00;
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const longest = 4;

/** Decodes the bytes of a path or name. Different bytes give different texts, and valid UTF-8 decodes as usual. */
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

/** Reverses `pathFromBytes`. Throws a `RangeError` for a text that `pathFromBytes` never returns. */
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
    throw new RangeError('the path holds half of a surrogate pair, which no file name has: write the whole character');
  }
  return Buffer.of(code & 0xff);
}

/** Returns the length of the UTF-8 character that begins at `at`, 0 if none begins there. */
function measureCharacter(bytes: Buffer, at: number): number {
  for (let size = 1; size <= longest && at + size <= bytes.length; size++) {
    if (isUtf8(bytes.subarray(at, at + size))) return size;
  }
  return 0;
}
