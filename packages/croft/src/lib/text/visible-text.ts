/**
 * Bytes of an output, and the text in them that may be secret. `ends[i]` is where the bytes of character `i` end; they
 * begin where those of the character before end, so that no byte is without a character.
 */
export interface VisibleText {
  readonly bytes: Buffer;
  readonly text: string;
  readonly ends: Uint32Array;
}

const [lineFeed, carriageReturn, escapeByte, openBracket, replacement] = [0x0a, 0x0d, 0x1b, 0x5b, 0xfffd];
/** Longer than any colour that programs print. */
const maxSequenceBytes = 64;
/** After so many bytes without a character, an invisible line end stands for them: their number is bounded. */
const maxInvisibleBytes = 1024;
const noBytes = Buffer.alloc(0);

/**
 * Creates a decoder of bytes that arrive in pieces. The text is UTF-8, with a replacement character for each other
 * byte; colours and cursor movements are not in it, so that a secret is found that is coloured in part; CR and CRLF
 * are LF.
 */
export function createVisibleTextDecoder() {
  let held: Buffer = noBytes;
  return {
    push(chunk: Buffer): VisibleText {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const decoded = decode(bytes, false);
      held = bytes.subarray(decoded.bytes.length);
      return decoded;
    },
    /** Returns the last bytes, which were held back because the next piece could have completed them. */
    end(): VisibleText {
      const decoded = decode(held, true);
      held = noBytes;
      return decoded;
    },
  };
}

function decode(bytes: Buffer, isLast: boolean): VisibleText {
  const [units, ends] = [new Uint16Array(bytes.length + 1), new Uint32Array(bytes.length + 1)];
  let count = 0;
  const add = (unit: number, end: number) => {
    units[count] = unit;
    ends[count++] = end;
  };
  const lastEnd = () => ends[count - 1] ?? 0;
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(bytes, at);
    const end = at + Math.abs(length);
    if (end > bytes.length && !isLast) break;
    if (length > 0) addCharacter(bytes, at, Math.min(end, bytes.length), add);
    else if (end - lastEnd() > maxInvisibleBytes) add(lineFeed, end);
    at = end;
  }
  if (isLast && lastEnd() < bytes.length) add(lineFeed, bytes.length);
  const text = Buffer.from(units.buffer, 0, count * 2).toString('utf16le');
  return { bytes: bytes.subarray(0, lastEnd()), text, ends: ends.subarray(0, count) };
}

/**
 * Returns how many bytes the character has that begins at `at`: more than there are, if it may go on in the next piece.
 * Negative: it is a control sequence, which is not visible.
 */
function lengthAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first >= 0x20 && first < 0x80) return 1;
  if (first === escapeByte) return sequenceLength(bytes, at);
  if (first === carriageReturn) return at + 1 < bytes.length && bytes[at + 1] !== lineFeed ? 1 : 2;
  return first < 0xc2 || first > 0xf4 ? 1 : characterLength(bytes, at, first);
}

function characterLength(bytes: Buffer, at: number, first: number): number {
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const isWhole = bytes.subarray(at + 1, at + length).every((byte) => (byte & 0xc0) === 0x80);
  return isWhole ? length : 1;
}

/** The length of a control sequence such as `ESC [ 31 m`, negative, or 1 for an ESC that begins none. */
function sequenceLength(bytes: Buffer, at: number): number {
  if (at + 1 < bytes.length && bytes[at + 1] !== openBracket) return 1;
  for (let next = at + 2; next < at + maxSequenceBytes; next++) {
    if (next >= bytes.length) return at - next - 1;
    const byte = bytes[next] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return at - next - 1;
    if (byte < 0x20 || byte > 0x3f) return 1;
  }
  return 1;
}

function addCharacter(bytes: Buffer, at: number, end: number, add: (unit: number, end: number) => void): void {
  const first = bytes[at] ?? 0;
  if (first === carriageReturn) add(lineFeed, end);
  else if (end === at + 1) add(first < 0x80 ? first : replacement, end);
  // The second half of a pair has no bytes of its own.
  else for (const unit of bytes.toString('utf8', at, end).split('')) add(unit.charCodeAt(0), end);
}
