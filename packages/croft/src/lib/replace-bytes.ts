/** Counts matches that do not overlap. An empty needle is found nowhere. */
export function countBytes(haystack: Buffer, needle: Buffer): number {
  return findMatches(haystack, needle, Number.POSITIVE_INFINITY).length;
}

/**
 * Replaces the first match, or all that do not overlap. Works on bytes alone, so invalid UTF-8
 * around a match survives and `$&` in the replacement means itself. Without a match the
 * result is `haystack` itself, not a copy.
 */
export function replaceBytes(
  haystack: Buffer,
  needle: Buffer,
  replacement: Buffer,
  options: { all: boolean },
): { bytes: Buffer; count: number } {
  const matches = findMatches(haystack, needle, options.all ? Number.POSITIVE_INFINITY : 1);
  if (matches.length === 0) return { bytes: haystack, count: 0 };

  const parts: Buffer[] = [];
  let copiedTo = 0;
  for (const start of matches) {
    parts.push(haystack.subarray(copiedTo, start), replacement);
    copiedTo = start + needle.length;
  }
  parts.push(haystack.subarray(copiedTo));
  return { bytes: Buffer.concat(parts), count: matches.length };
}

function findMatches(haystack: Buffer, needle: Buffer, maxMatches: number): number[] {
  const matches: number[] = [];
  if (needle.length === 0) return matches;
  let start = haystack.indexOf(needle);
  while (start >= 0 && matches.length < maxMatches) {
    matches.push(start);
    start = haystack.indexOf(needle, start + needle.length);
  }
  return matches;
}
