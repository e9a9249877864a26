/** Parses JSON with comments and trailing commas, as used in settings. Throws the errors of `JSON.parse`. */
export function parseJsonc(text: string): unknown {
  return JSON.parse(dropCommas(split(text)));
}

/**
 * Splits the text into strings and the parts between them, without comments. Reads each character once, even if a quote
 * or comment is not closed.
 */
function split(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = endOf(text, at);
    if (!isComment(text, at)) parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

function endOf(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start + 1);
  if (text.startsWith('//', start)) return orEnd(text, text.indexOf('\n', start));
  if (text.startsWith('/*', start)) return orEnd(text, text.indexOf('*/', start + 2), 2);
  const others = /["/]/g;
  others.lastIndex = start + 1;
  return others.exec(text)?.index ?? text.length;
}

function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function orEnd(text: string, index: number, length = 0): number {
  return index < 0 ? text.length : index + length;
}

function isComment(text: string, start: number): boolean {
  return text.startsWith('//', start) || text.startsWith('/*', start);
}

/** Removes commas that are followed by a closing bracket. */
function dropCommas(parts: readonly string[]): string {
  const pieces = parts.flatMap((part) => (part.startsWith('"') ? [part] : (part.match(/[,}\]]|[^,}\]]+/g) ?? [])));
  const wanted: string[] = [];
  let next = '';
  for (const piece of pieces.reverse()) {
    const isLast = piece === ',' && (next === '}' || next === ']');
    if (!isLast) wanted.push(piece);
    if (piece.trim() !== '') next = piece;
  }
  return wanted.reverse().join('');
}
