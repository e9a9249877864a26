/** The last bytes of a stream, each by its place from the beginning. What was dropped cannot be had again. */
export function createScrollback() {
  const pieces: Buffer[] = [];
  let [first, end] = [0, 0];

  return {
    /** The place of the first byte that is kept, and of the one that comes next. */
    first: () => first,
    end: () => end,
    push(bytes: Buffer): void {
      pieces.push(bytes);
      end += bytes.length;
    },
    from(offset: number): Buffer {
      const kept = Buffer.concat(pieces);
      pieces.splice(0, pieces.length, kept);
      return kept.subarray(offset - first);
    },
    /** All pieces that end before it. */
    dropBefore(offset: number): void {
      for (let piece = pieces[0]; piece && first + piece.length <= offset; piece = pieces[0]) {
        first += piece.length;
        pieces.shift();
      }
    },
  };
}
