const maxCharBytes = 4;

/** Returns where the last complete character ends: at the end, or before an incomplete character. */
export function wholeCharsEnd(bytes: Uint8Array): number {
  const first = Math.max(0, bytes.length - maxCharBytes + 1);
  for (let at = bytes.length - 1; at >= first; at--) {
    const byte = bytes[at] ?? 0;
    if (!isContinuation(byte)) return at + charBytes(byte) > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

/** Returns where the first complete character starts: after the remaining bytes of a cut one. */
export function wholeCharsStart(bytes: Uint8Array): number {
  let at = 0;
  while (at < maxCharBytes - 1 && isContinuation(bytes[at] ?? 0)) at++;
  return at;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function charBytes(lead: number): number {
  if (lead >= 0xf0) return lead <= 0xf4 ? 4 : 1;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc2 ? 2 : 1;
}
