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
 * Quotes like Go's `strconv.Quote` and `%q`: everything Go does not call printable is escaped,
 * and a lone surrogate becomes `\ufffd`. Which code points are assigned follows Node's Unicode tables.
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
