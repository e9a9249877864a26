/** Part of a line, and whether the other line of the pair does not have it. */
interface ChangedPart {
  readonly text: string;
  readonly isChanged: boolean;
}

const longestLine = 1000;

/** Finds the part in which two lines differ, in whole words: without their common beginning and end. */
export function findChangedPart(text: string, other: string): ChangedPart[] {
  if (text.length > longestLine || other.length > longestLine) return [{ text, isChanged: false }];
  const [words, others] = [toWords(text), toWords(other)];
  let start = 0;
  while (start < words.length && words[start] === others[start]) start++;
  let end = 0;
  const most = Math.min(words.length, others.length) - start;
  while (end < most && words.at(-1 - end) === others.at(-1 - end)) end++;
  const [before, changed, after] = [
    words.slice(0, start).join(''),
    words.slice(start, words.length - end).join(''),
    words.slice(words.length - end).join(''),
  ];
  // Two lines without anything in common are two lines, and no change of words.
  if (before.trim() === '' && after.trim() === '') return [{ text, isChanged: false }];
  return [
    { text: before, isChanged: false },
    { text: changed, isChanged: true },
    { text: after, isChanged: false },
  ].filter((part) => part.text !== '');
}

function toWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}
