/** Closing quote by opening quote, as the C library (in every locale), Node, Python and Rust print them. */
const quotes: Readonly<Record<string, string>> = { "'": "'", '‘': '’', '`': '`', '"': '"' };
const maxQuoted = 8;
const maxWords = 200;
const rooted = /^(?:~?|\.\.?)\/[^/]/;

/** Returns quoted texts in order. One pass: a quote that is never closed is searched for once. */
function quotedIn(text: string): string[] {
  const found: string[] = [];
  const unclosed = new Set<string>();
  let next = 0;
  // A quote inside a word is an apostrophe.
  for (const { 0: opening, index } of text.matchAll(/(?<!\w)['‘`"]/g)) {
    if (index < next || unclosed.has(opening) || found.length === maxQuoted) continue;
    const end = text.indexOf(quotes[opening] ?? '', index + 1);
    if (end < 0) unclosed.add(opening);
    else next = end + 1;
    if (end > index + 1) found.push(text.slice(index + 1, end));
  }
  return found;
}

/**
 * Returns the paths that a text may be about, the likeliest first: those in quotes, or else the one right before the
 * reason as in `tee: /usr/x: Read-only file system`, then everything else that looks like a path.
 */
export function findMentionedPaths(text: string, reasonAt = 0): string[] {
  const quoted = quotedIn(text).filter(isPathLike);
  if (quoted.length > 0) return quoted;
  // The first word is the name of the program that prints.
  const words = text.replace(/^\s*\S+:(?=\s)/, '').split(/\s+/, maxWords);
  return [...fieldBefore(text, reasonAt), ...words.map(withoutPunctuation).filter((word) => rooted.test(word))];
}

function withoutPunctuation(word: string): string {
  return word.replace(/^[(<[{]/, '').replace(/[\])>},.;:]$/, '');
}

function fieldBefore(text: string, reasonAt: number): string[] {
  const head = text.slice(0, reasonAt);
  if (!head.endsWith(': ')) return [];
  const field = head.slice(head.lastIndexOf(': ', head.length - 3) + 1, -2).trim();
  const path = /^\.{0,2}\//.test(field) ? field : (field.split(' ').at(-1) ?? '');
  // A word such as `EACCES` is the name of an error, not of a file.
  return path === '' || /^E[A-Z]+$|Error$|^\W+$/.test(path) ? [] : [path.replace(/^['"`]|['"`]$/g, '')];
}

/** Quoted text may be anything, such as a command line. */
function isPathLike(text: string): boolean {
  return text.length > 1 && (/^[~.]?\.?\//.test(text) || !/[\s=;|&<>]/.test(text));
}
