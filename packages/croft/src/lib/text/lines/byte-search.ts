/**
 * For needles up to this length Node's own search takes linear time; with a longer needle it may restart again and
 * again.
 */
const maxQuickBytes = 250;

/**
 * Creates a search that finds `needle` as `Buffer.indexOf` does. For some needles `indexOf` in a loop takes time
 * proportional to the product of both lengths, which can block the server for hours; this search takes their sum,
 * whatever the bytes.
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

/** Matches without going back, as long as the bytes read end like the needle begins (Knuth, Morris, Pratt). */
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

/** For each prefix length of the needle: the length of its longest proper suffix that is a prefix too. */
function bordersOf(needle: Buffer): Int32Array {
  const borders = new Int32Array(needle.length + 1);
  for (let at = 1, length = 0; at < needle.length; ) {
    if (needle[at] === needle[length]) borders[++at] = ++length;
    else if (length > 0) length = borders[length] ?? 0;
    else at += 1;
  }
  return borders;
}
