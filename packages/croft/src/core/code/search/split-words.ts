/** Splits text into words at signs, and names at their borders: `HTTPServer2_old` has http, server, 2 and old. */
export function splitWords(text: string): string[] {
  const parts = text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+|\p{N}+/gu) ?? [];
  return parts.map((part) => part.toLowerCase());
}

/** Words in their singular, so that `files` finds `file`. Only the plain plural of English is known. */
export function toSingular(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  return /(?:ch|sh|x|z|ss)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
