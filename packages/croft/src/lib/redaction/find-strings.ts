const blockChars = 3;
const maxWindowChars = 12;
const tableSize = 65_536;

/**
 * Creates a search for many strings in one pass that skips most characters (Wu-Manber algorithm). Leaves out matches
 * within a match already reported, and strings of less than three characters.
 */
export function createStringFinder(strings: Iterable<string>) {
  const needles = [...new Set(strings)].filter((needle) => needle.length >= blockChars);
  const windowChars = Math.min(maxWindowChars, ...needles.map((needle) => needle.length));
  const { shifts, endings } = toTables(needles, windowChars);

  return (text: string, onFound: (needle: string, start: number) => void): void => {
    let done = 0;
    for (let at = windowChars - 1; needles.length > 0 && at < text.length; ) {
      const hash = hashBlock(text, at);
      const shift = shifts[hash] ?? 1;
      if (shift === 0) report(endings.get(hash), at - windowChars + 1);
      at += shift || 1;
    }

    function report(candidates: Candidates | undefined, start: number): void {
      const needle = candidates && longestAt(candidates, text, start);
      if (needle === undefined || start + needle.length <= done) return;
      onFound(needle, start);
      done = start + needle.length;
    }
  };
}

/**
 * `shifts`: how far the search may advance after a block without skipping a needle; 0 if the first `windowChars` of
 * some needle end with this block. `endings`: those needles.
 */
function toTables(needles: readonly string[], windowChars: number) {
  const shifts = new Uint8Array(tableSize).fill(windowChars - blockChars + 1);
  const endings = new Map<number, string[]>();
  for (const needle of needles) {
    for (let at = blockChars - 1; at < windowChars; at++) {
      const hash = hashBlock(needle, at);
      shifts[hash] = Math.min(shifts[hash] ?? 0, windowChars - 1 - at);
    }
    const last = hashBlock(needle, windowChars - 1);
    const known = endings.get(last);
    if (known) known.push(needle);
    else endings.set(last, [needle]);
  }
  return { shifts, endings: new Map(Array.from(endings, ([hash, all]) => [hash, toCandidates(all)])) };
}

/** Sorted needles, and for each the index of the longest other needle that is its prefix; -1 for none. */
interface Candidates {
  readonly needles: readonly string[];
  readonly starts: readonly number[];
}

function toCandidates(all: readonly string[]): Candidates {
  const needles = all.toSorted((one, other) => (one < other ? -1 : 1));
  const starts: number[] = [];
  for (const [index, needle] of needles.entries()) {
    let start = index - 1;
    while (start >= 0 && !needle.startsWith(needles[start] ?? '')) start = starts[start] ?? -1;
    starts.push(start);
  }
  return { needles, starts };
}

/** Finds the longest needle at `start` by binary search: secrets may be chosen so that many share a prefix. */
function longestAt({ needles, starts }: Candidates, text: string, start: number): string | undefined {
  let [low, high] = [0, needles.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const needle = needles[middle] ?? '';
    if (needle <= text.slice(start, start + needle.length)) low = middle + 1;
    else high = middle;
  }
  // `low - 1` is the last needle that does not sort after the text. If the text does not begin with it, the text may
  // begin with one of its prefixes.
  for (let index = low - 1; index >= 0; index = starts[index] ?? -1) {
    const needle = needles[index] ?? '';
    if (text.slice(start, start + needle.length) === needle) return needle;
  }
  return undefined;
}

/** Hashes the block that ends at `at`. */
function hashBlock(text: string, at: number): number {
  return ((text.charCodeAt(at - 2) << 10) ^ (text.charCodeAt(at - 1) << 5) ^ text.charCodeAt(at)) & (tableSize - 1);
}
