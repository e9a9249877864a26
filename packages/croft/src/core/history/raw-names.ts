import { bytesFromPath, pathFromBytes } from '../../lib/path-bytes.ts';

/**
 * A name or a path as its bytes, one character each. Of most names that is the name itself. What is compared, sorted and
 * written to listings is this form, because the kernel knows no other: two names are the same if their bytes are.
 */
export type RawName = string;

const onlyAscii = /^[\0-\x7f]*$/;

export function toRaw(path: string): RawName {
  return onlyAscii.test(path) ? path : bytesFromPath(path).toString('latin1');
}

export function fromRaw(raw: RawName): string {
  return onlyAscii.test(raw) ? raw : pathFromBytes(Buffer.from(raw, 'latin1'));
}
