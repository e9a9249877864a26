const newline = 10;
/** A line that comes in crumbs is joined from time to time: each of them takes more memory than it has bytes. */
const maxHeldPieces = 1024;

/** Cuts a stream into lines as it comes. `onTooLong` is told of one that does not end within `maxBytes`. */
export function createLineCutter(maxBytes: number, onLine: (line: Buffer) => void, onTooLong: () => void) {
  let held: Buffer[] = [];
  let heldBytes = 0;

  return (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, end);
      const whole = held.length === 0 ? line : Buffer.concat([...held, line]);
      [held, heldBytes] = [[], 0];
      start = end + 1;
      onLine(whole);
    }
    if (start === chunk.length) return;
    if (held.length >= maxHeldPieces) held = [Buffer.concat(held)];
    held.push(chunk.subarray(start));
    heldBytes += chunk.length - start;
    if (heldBytes > maxBytes) onTooLong();
  };
}
