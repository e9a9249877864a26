const newline = 10;
/**
 * A line that arrives in many small pieces is joined from time to time, because each piece takes more memory than it
 * has bytes.
 */
const maxPieces = 1024;

/** Splits a stream into lines as it arrives. Calls `onTooLong` when a line does not end within `maxBytes`. */
export function createByteLineSplitter(maxBytes: number, onLine: (line: Buffer) => void, onTooLong: () => void) {
  let pieces: Buffer[] = [];
  let pendingBytes = 0;

  return (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, end);
      const whole = pieces.length === 0 ? line : Buffer.concat([...pieces, line]);
      [pieces, pendingBytes] = [[], 0];
      start = end + 1;
      onLine(whole);
    }
    if (start === chunk.length) return;
    if (pieces.length >= maxPieces) pieces = [Buffer.concat(pieces)];
    pieces.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > maxBytes) onTooLong();
  };
}
