/**
 * Creates a fast table-based test of character codes for inner loops. `ranges` is written as between the brackets of a
 * regular expression, without escapes: `a-z_`. ASCII only.
 */
export function createCharClass(ranges: string, except = ''): (code: number) => boolean {
  const table = new Uint8Array(128);
  for (const [, from = '', to = from] of ranges.matchAll(/(.)(?:-(.))?/gs))
    table.fill(1, from.charCodeAt(0), to.charCodeAt(0) + 1);
  for (const char of except) table[char.charCodeAt(0)] = 0;
  return (code) => code < 128 && table[code] === 1;
}

/** Returns where the run of characters of the class ends, at most `limit`. */
export function classEnd(text: string, from: number, isMember: (code: number) => boolean, limit = text.length): number {
  let at = from;
  while (at < limit && isMember(text.charCodeAt(at))) at++;
  return at;
}
