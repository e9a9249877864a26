/**
 * Creates a search for a text that ends within one of `strings`: it returns the earliest position from which the rest of
 * the text is the beginning of one of them and not all of it, or the end of the text.
 */
export function createPrefixFinder(strings: Iterable<string>) {
  let sorted: readonly string[] | undefined;
  let maxChars = 0;

  return (text: string): number => {
    const end = text.length;
    if (!sorted) {
      sorted = [...strings].sort();
      maxChars = sorted.reduce((longest, { length }) => Math.max(longest, length), 0);
    }
    for (let start = Math.max(0, end - maxChars + 1); start < end; start++)
      if (isPrefix(sorted, text.slice(start, end))) return start;
    return end;
  };
}

/** Tells whether some string begins with `prefix` and goes on. */
function isPrefix(sorted: readonly string[], prefix: string): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') <= prefix) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(prefix) ?? false;
}
