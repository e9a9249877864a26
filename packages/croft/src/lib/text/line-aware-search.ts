import { createByteSearch } from './find-bytes.ts';

export interface Range {
  readonly start: number;
  readonly end: number;
  /** How lines end there, or in the file where the range has no line end. */
  readonly ending: '\n' | '\r\n';
}

/** How much of the needle is not to be touched, in bytes from its start and from its end. */
export interface Kept {
  readonly head: number;
  readonly tail: number;
}

const [cr, lf] = [13, 10];
const crlf = Buffer.from('\r\n');

/**
 * Where `needle` is in a file, the first `max` times, without overlaps, whichever way its lines end in the file: `\n` in
 * the needle is any line end. In a file without `\r\n` it is a plain search. The ranges leave out what is kept.
 */
export function findLineAware(
  bytes: Buffer,
  needle: string,
  max = Number.POSITIVE_INFINITY,
  { head, tail }: Kept = { head: 0, tail: 0 },
): Range[] {
  if (!bytes.includes(crlf))
    return findPlain(bytes, Buffer.from(needle), max).map(({ start, end }) => ({
      ...{ start: start + head, end: end - tail },
      ending: '\n',
    }));
  const { folded, removed, isMostlyCrlf } = foldEndings(bytes);
  const usual = isMostlyCrlf ? '\r\n' : '\n';
  const unfold = createUnfolder(removed);
  return findPlain(folded, Buffer.from(needle.replaceAll('\r\n', '\n')), max).map((found) => {
    const places = [found.start, found.start + head, found.end - tail, found.end].map(unfold);
    const [from = 0, start = 0, end = 0, to = 0] = places;
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

/** Where in the file a place of the folded bytes is, asked for from the first to the last. */
function createUnfolder(removed: readonly number[]): (at: number) => number {
  let passed = 0;
  return (at) => {
    while (passed < removed.length && (removed[passed] ?? 0) < at) passed += 1;
    return at + passed;
  };
}

/** The bytes without the `\r` of each `\r\n`, and where in them each one was. */
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
  usual: Range['ending'],
): Range['ending'] {
  const at = bytes.subarray(start, end).indexOf(lf);
  if (at === -1) return usual;
  return at > 0 && bytes[start + at - 1] === cr ? '\r\n' : '\n';
}
