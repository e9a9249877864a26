import { detectUtf16 } from '../text/utf16.ts';

const sniffedBytes = 8000;

/** Tells whether the first 8,000 bytes hold a NUL and are not UTF-16. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sniffedBytes).includes(0) && detectUtf16(bytes) === undefined;
}
