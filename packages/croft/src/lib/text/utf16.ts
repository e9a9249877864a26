export type Utf16Order = 'utf-16le' | 'utf-16be';

export interface DecodedText {
  readonly text: string;
  /** Whether U+FFFD replaced bytes that are no character. */
  readonly lossy: boolean;
}

const sniffedBytes = 8000;

/**
 * Returns the byte order of a UTF-16 file, by its byte order mark. Returns `undefined` if a NUL character follows,
 * which also excludes UTF-32.
 */
export function detectUtf16(bytes: Uint8Array): Utf16Order | undefined {
  const order = orderOf(bytes);
  if (!order) return undefined;
  for (let at = 2; at + 1 < Math.min(bytes.length, sniffedBytes); at += 2)
    if (bytes[at] === 0 && bytes[at + 1] === 0) return undefined;
  return order;
}

/** Decodes UTF-16. Keeps the byte order mark. */
export function decodeUtf16(bytes: Uint8Array, order: Utf16Order): DecodedText {
  const text = toLittleEndian(bytes, order).toString('utf16le');
  return { text: text.toWellFormed(), lossy: bytes.length % 2 === 1 || !text.isWellFormed() };
}

export function encodeUtf16(text: string, order: Utf16Order): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'utf-16be' ? bytes.swap16() : bytes;
}

/** Converts UTF-16 chunks to UTF-8 and passes other encodings through. Calls `onUtf16` if the text is UTF-16. */
export async function* toUtf8Chunks(
  chunks: AsyncIterable<Buffer>,
  onUtf16: (order: Utf16Order) => void,
): AsyncIterable<Buffer> {
  let decoder: TextDecoder | undefined;
  let isFirst = true;
  for await (const chunk of chunks) {
    const order = isFirst ? detectUtf16(chunk) : undefined;
    isFirst = false;
    if (order) {
      decoder = new TextDecoder(order, { ignoreBOM: true });
      onUtf16(order);
    }
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk;
  }
  if (decoder) yield Buffer.from(decoder.decode());
}

function orderOf([first, second]: Uint8Array): Utf16Order | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function toLittleEndian(bytes: Uint8Array, order: Utf16Order): Buffer {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength & ~1);
  return order === 'utf-16be' ? Buffer.from(whole).swap16() : whole;
}
