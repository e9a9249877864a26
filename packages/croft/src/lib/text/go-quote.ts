const shortEscapes: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/**
 * Quotes like Go's `strconv.Quote` and `%q`: escapes everything that Go does not call printable, and writes a lone
 * surrogate as `\ufffd`. Node's Unicode tables decide which code points are assigned.
 */
export function goQuote(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escapeChar)}"`;
}

function escapeChar(char: string): string {
  const codePoint = char.codePointAt(0) ?? 0;
  const short = shortEscapes[char];
  if (short !== undefined) return short;
  if (codePoint < 0x20 || codePoint === 0x7f) return `\\x${toHex(codePoint, 2)}`;
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return '\\ufffd';
  return codePoint < 0x10000 ? `\\u${toHex(codePoint, 4)}` : `\\U${toHex(codePoint, 8)}`;
}

function toHex(codePoint: number, digits: number): string {
  return codePoint.toString(16).padStart(digits, '0');
}
