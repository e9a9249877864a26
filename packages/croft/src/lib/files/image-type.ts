const bmpHeaderSizes = [12, 40, 52, 56, 64, 108, 124];

/** Returns the MIME type of a PNG, JPEG, GIF, WebP or BMP image, recognised by its first bytes. */
export function imageType(bytes: Uint8Array): string | undefined {
  if (hasAscii(bytes, 0, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (hasAscii(bytes, 0, '\xff\xd8\xff')) return 'image/jpeg';
  if (hasAscii(bytes, 0, 'GIF87a') || hasAscii(bytes, 0, 'GIF89a')) return 'image/gif';
  if (hasAscii(bytes, 0, 'RIFF') && hasAscii(bytes, 8, 'WEBP')) return 'image/webp';
  return isBmp(bytes) ? 'image/bmp' : undefined;
}

/** Also checks the size of the second header, because a text may begin with "BM". */
function isBmp(bytes: Uint8Array): boolean {
  const [low = 0, ...high] = bytes.subarray(14, 18);
  return hasAscii(bytes, 0, 'BM') && bmpHeaderSizes.includes(low) && high.join() === '0,0,0';
}

function hasAscii(bytes: Uint8Array, start: number, signature: string): boolean {
  for (let index = 0; index < signature.length; index++)
    if (bytes[start + index] !== signature.charCodeAt(index)) return false;
  return true;
}
