import { createByteSearch } from './byte-search.ts';

export interface RangeWithLineEnding {
  readonly start: number;
  readonly end: number;
  /** The line ending used in the range, or in most of the file if the range has no line end. */
  readonly ending: '\n' | '\r\n';
}

/** Bytes at the start and at the end of the needle that the returned ranges leave out. */
export interface UntouchedEnds {
  readonly head: number;
  readonly tail: number;
}

const [cr, lf] = [13, 10];
const crlf = Buffer.from('\r\n');

/**
 * Finds the first `max` matches of `needle` in a file, without overlaps. `\n` in the needle matches `\n` and `\r\n`; in
 * a file without `\r\n` this is a plain search. The ranges leave out the untouched ends.
 */
export function findIgnoringLineEndings(
  bytes: Buffer,
  needle: string,
  max = Number.POSITIVE_INFINITY,
  { head, tail }: UntouchedEnds = { head: 0, tail: 0 },
): RangeWithLineEnding[] {
  if (!bytes.includes(crlf))
    return findPlain(bytes, Buffer.from(needle), max).map(({ start, end }) => ({
      ...{ start: start + head, end: end - tail },
      ending: '\n',
    }));
  const { folded, removed, isMostlyCrlf } = foldEndings(bytes);
  const usual = isMostlyCrlf ? '\r\n' : '\n';
  const unfold = createUnfolder(removed);
  return findPlain(folded, Buffer.from(needle.replaceAll('\r\n', '\n')), max).map((found) => {
    const offsets = [found.start, found.start + head, found.end - tail, found.end].map(unfold);
    const [from = 0, start = 0, end = 0, to = 0] = offsets;
    return { start, end, ending: endingIn(bytes, { start: from, end: to }, usual) };
  });
}

function findPlain(bytes: Buffer, needle: Buffer, max: number): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  const search = createByteSearch(needle);
  for (let start = search(bytes, 0); start !== -1; start = search(bytes, start + needle.length)) {
    found.push({ start, end: start + needle.length });
    if (found.length === max) break;
  }
  return found;
}

/**
 * Creates a function that maps offsets in the folded bytes to offsets in the file. Offsets must be asked for in
 * ascending order.
 */
function createUnfolder(removed: readonly number[]): (at: number) => number {
  let passed = 0;
  return (at) => {
    while (passed < removed.length && (removed[passed] ?? 0) < at) passed += 1;
    return at + passed;
  };
}

/** Removes the `\r` of each `\r\n`, and records where. */
function foldEndings(bytes: Buffer) {
  const folded = Buffer.allocUnsafe(bytes.length);
  const removed: number[] = [];
  let [length, copied, lines] = [0, 0, 0];
  for (let at = bytes.indexOf(lf); at !== -1; at = bytes.indexOf(lf, at + 1)) {
    lines += 1;
    if (bytes[at - 1] !== cr) continue;
    length += bytes.copy(folded, length, copied, at - 1);
    removed.push(length);
    copied = at;
  }
  length += bytes.copy(folded, length, copied);
  return { folded: folded.subarray(0, length), removed, isMostlyCrlf: removed.length * 2 > lines };
}

function endingIn(
  bytes: Buffer,
  { start, end }: { start: number; end: number },
  usual: RangeWithLineEnding['ending'],
): RangeWithLineEnding['ending'] {
  const at = bytes.subarray(start, end).indexOf(lf);
  if (at === -1) return usual;
  return at > 0 && bytes[start + at - 1] === cr ? '\r\n' : '\n';
}
