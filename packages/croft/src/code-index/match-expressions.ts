import type { QueryTerm } from '../core/code/ports/code-index.ts';
import { splitWords } from '../core/code/search/split-words.ts';

/** Shorter words are found as whole words only. */
const minPrefixLength = 4;

/** An expression of FTS5 for any form of a term. Forms are split as the index splits text, so that no sign is left. */
export function toGroup({ forms }: QueryTerm): string {
  const phrases = forms.flatMap(splitWords).map((word) => `"${word}"${word.length >= minPrefixLength ? '*' : ''}`);
  return `(${phrases.join(' OR ')})`;
}

export function matchAll(terms: readonly QueryTerm[]): string {
  return terms.map(toGroup).join(' AND ');
}

export function matchAny(terms: readonly QueryTerm[]): string {
  return terms.map(toGroup).join(' OR ');
}
