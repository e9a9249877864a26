/** Up to here Node's own search takes all of the needle into account; of a longer one it may begin again and again. */
const maxQuickBytes = 250;

/**
 * Where `needle` is, as `Buffer.indexOf` in a loop. For some needles that takes the product of both lengths, which is hours
 * in which the server does nothing else; this takes their sum, whatever they hold.
 */
export function createByteSearch(needle: Buffer): (bytes: Buffer, from: number) => number {
  if (needle.length <= maxQuickBytes) return (bytes, from) => bytes.indexOf(needle, from);
  const start = needle.subarray(0, maxQuickBytes);
  let borders: Int32Array | undefined;
  return (bytes, from) => {
    for (let at = bytes.indexOf(start, from); at !== -1; ) {
      borders ??= bordersOf(needle);
      const { end, matched } = matchFrom(bytes, at, needle, borders);
      if (matched === needle.length) return end - matched;
      at = end === bytes.length ? -1 : bytes.indexOf(start, end);
    }
    return -1;
  };
}

/** Goes on as long as what was read ends like the needle begins, and never back (Knuth, Morris, Pratt). */
function matchFrom(bytes: Buffer, from: number, needle: Buffer, borders: Int32Array) {
  let [at, matched] = [from, 0];
  do {
    if (bytes[at] === needle[matched]) {
      at += 1;
      matched += 1;
    } else matched = borders[matched] ?? 0;
  } while (matched > 0 && matched < needle.length && at < bytes.length);
  return { end: at, matched };
}

/** For each length of a part from the start: how much of its end is a start of the needle too. */
function bordersOf(needle: Buffer): Int32Array {
  const borders = new Int32Array(needle.length + 1);
  for (let at = 1, length = 0; at < needle.length; ) {
    if (needle[at] === needle[length]) borders[++at] = ++length;
    else if (length > 0) length = borders[length] ?? 0;
    else at += 1;
  }
  return borders;
}
