import type { SearchEntry } from '../write-search-index.ts';

export interface Match {
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  /** Words around the first match. */
  readonly excerpt: string;
}

const maxMatches = 12;
const around = 60;

/** The parts of the site that have every word, the best first: words in headings count more than words in text. */
export function findEntries(entries: readonly SearchEntry[], asked: string): Match[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: rate(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxMatches)
    .map(({ entry }) => toMatch(entry, words));
}

function rate([, page, heading, , body]: SearchEntry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = rateWord(word, heading || page, 12) + rateWord(word, page, 4) + rateWord(word, body, 1);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

/** A word that begins there counts twice as much as one that is only part of a longer one. */
function rateWord(word: string, text: string, weight: number): number {
  const at = text.toLowerCase().indexOf(word);
  if (at < 0) return 0;
  return at === 0 || /[^\p{L}\p{N}]/u.test(text.charAt(at - 1)) ? 2 * weight : weight;
}

function toMatch([file, page, heading, anchor, body]: SearchEntry, words: readonly string[]): Match {
  const places = words.map((word) => body.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = body.indexOf(' ', Math.min(...places, body.length) - around) + 1;
  const from = places.length === 0 || Math.min(...places) <= around ? 0 : start;
  const excerpt = body.slice(from, from + 3 * around).replace(/\s\S*$/, '');
  return { address: anchor === '' ? file : `${file}#${anchor}`, page, heading, excerpt: excerpt.trim() };
}
