const word = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const maxWords = 10_000;
const maxWordLength = 100;

interface WordSource {
  readonly text: string;
  /** Comments and strings, by offsets: words in them do not count. */
  readonly skipped: readonly { readonly start: number; readonly end: number }[];
  readonly keywords: ReadonlySet<string>;
  /** Names that count although they are also keywords. */
  readonly names: ReadonlySet<string>;
}

/** Counts the words of a source file. Of more than 10,000 different words only the first are counted. */
export function countWords({ text, skipped, keywords, names }: WordSource): Map<string, number> {
  const counts = new Map<string, number>();
  let at = 0;
  for (const { start, end } of [...skipped].sort((a, b) => a.start - b.start)) {
    if (start > at) add(text.slice(at, start));
    at = Math.max(at, end);
  }
  add(text.slice(at));
  return counts;

  function add(code: string): void {
    for (const [found] of code.matchAll(word)) {
      if (found.length > maxWordLength || (keywords.has(found) && !names.has(found))) continue;
      const count = counts.get(found);
      if (count !== undefined || counts.size < maxWords) counts.set(found, (count ?? 0) + 1);
    }
  }
}
