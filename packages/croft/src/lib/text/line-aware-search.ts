export interface Range {
  readonly start: number;
  readonly end: number;
  /** How lines end there, or in the file where the range has no line end. */
  readonly ending: '\n' | '\r\n';
}

const [cr, lf] = [13, 10];
const crlf = Buffer.from('\r\n');

/**
 * Where `needle` is in a file, the first `max` times, without overlaps, whichever way its lines end in the file: `\n` in
 * the needle is any line end. In a file without `\r\n` it is a plain search.
 */
export function findLineAware(bytes: Buffer, needle: string, max = Number.POSITIVE_INFINITY): Range[] {
  if (!bytes.includes(crlf))
    return findPlain(bytes, Buffer.from(needle), max).map((range) => ({ ...range, ending: '\n' }));
  const { folded, removed, isMostlyCrlf } = foldEndings(bytes);
  const usual = isMostlyCrlf ? '\r\n' : '\n';
  let passed = 0;
  return findPlain(folded, Buffer.from(needle.replaceAll('\r\n', '\n')), max).map(({ start, end }) => {
    while (passed < removed.length && (removed[passed] ?? 0) < start) passed += 1;
    let inside = passed;
    while (inside < removed.length && (removed[inside] ?? 0) < end) inside += 1;
    const range = { start: start + passed, end: end + inside };
    return { ...range, ending: endingIn(bytes, range, usual) };
  });
}

function findPlain(bytes: Buffer, needle: Buffer, max: number): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let start = bytes.indexOf(needle); start !== -1; start = bytes.indexOf(needle, start + needle.length)) {
    found.push({ start, end: start + needle.length });
    if (found.length === max) break;
  }
  return found;
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
