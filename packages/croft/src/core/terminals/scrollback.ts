/** Keeps the last bytes of a stream, addressed by their offset from its beginning. Dropped bytes are lost. */
export function createScrollback() {
  const pieces: Buffer[] = [];
  let [first, end] = [0, 0];

  return {
    /** Offsets of the first stored byte, and of the next byte to come. */
    first: () => first,
    end: () => end,
    push(bytes: Buffer): void {
      pieces.push(bytes);
      end += bytes.length;
    },
    from(offset: number): Buffer {
      const stored = Buffer.concat(pieces);
      pieces.splice(0, pieces.length, stored);
      return stored.subarray(offset - first);
    },
    /** Drops all pieces that end before `offset`. */
    dropBefore(offset: number): void {
      for (let piece = pieces[0]; piece && first + piece.length <= offset; piece = pieces[0]) {
        first += piece.length;
        pieces.shift();
      }
    },
  };
}
