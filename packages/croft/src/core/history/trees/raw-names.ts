import { bytesFromPath, pathFromBytes } from '../../../lib/files/path-bytes.ts';

/**
 * A name or a path as its bytes, one character per byte. For ASCII names it equals the name. Names are compared, sorted
 * and written to listings in this form, because to the kernel two names are equal if their bytes are.
 */
export type RawName = string;

const onlyAscii = /^[\0-\x7f]*$/;

export function toRaw(path: string): RawName {
  return onlyAscii.test(path) ? path : bytesFromPath(path).toString('latin1');
}

export function fromRaw(raw: RawName): string {
  return onlyAscii.test(raw) ? raw : pathFromBytes(Buffer.from(raw, 'latin1'));
}
