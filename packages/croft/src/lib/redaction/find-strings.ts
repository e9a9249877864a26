const blockChars = 3;
const maxWindowChars = 12;
const tableSize = 65_536;

/**
 * Finds every place of every one of many strings, in one pass that looks at few of the characters (Wu and Manber's
 * algorithm). Leaves out a place that lies within one already reported, and strings of less than three characters.
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
      if (shift === 0) report(endings.get(hash) ?? [], at - windowChars + 1);
      at += shift || 1;
    }

    function report(candidates: readonly string[], start: number): void {
      for (const needle of candidates) {
        const end = start + needle.length;
        // Several times as fast as startsWith.
        if (end <= done || text.slice(start, end) !== needle) continue;
        onFound(needle, start);
        done = end;
      }
    }
  };
}

/**
 * `shifts`: how far the search may go on after a block without passing over a needle; 0 where the first
 * `windowChars` of a needle end with this block. `endings`: those needles.
 */
function toTables(needles: readonly string[], windowChars: number) {
  const shifts = new Uint8Array(tableSize).fill(windowChars - blockChars + 1);
  const endings = new Map<number, string[]>();
  // Longest first, so that it is the one reported where several begin.
  for (const needle of needles.toSorted((a, b) => b.length - a.length)) {
    for (let at = blockChars - 1; at < windowChars; at++) {
      const hash = hashBlock(needle, at);
      shifts[hash] = Math.min(shifts[hash] ?? 0, windowChars - 1 - at);
    }
    const last = hashBlock(needle, windowChars - 1);
    endings.set(last, [...(endings.get(last) ?? []), needle]);
  }
  return { shifts, endings };
}

/** Of the block that ends at `at`. */
function hashBlock(text: string, at: number): number {
  return ((text.charCodeAt(at - 2) << 10) ^ (text.charCodeAt(at - 1) << 5) ^ text.charCodeAt(at)) & (tableSize - 1);
}
