import type { CodeHit, ParsedQuery } from '../ports/code-index.ts';
import { splitWords, toSingular } from './split-words.ts';

/** Hits that are rated a second time: the best ones only. */
const maxLookedAt = 200;
const maxGain = 0.3;

/** Puts the best hits first. Of the best, those come up whose words stand near each other. */
export function rankHits(hits: readonly CodeHit[], query: ParsedQuery): CodeHit[] {
  const sorted = [...hits].sort(compareHits);
  if (query.terms.length < 2) return sorted;
  const best = sorted.slice(0, maxLookedAt).map((hit) => ({ ...hit, score: hit.score * rateNearness(hit, query) }));
  return [...best.sort(compareHits), ...sorted.slice(maxLookedAt)];
}

export function compareHits(a: CodeHit, b: CodeHit): number {
  return b.score - a.score || compareText(a.path, b.path) || a.line - b.line;
}

export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** 1 for words far apart, up to 1.3 for words beside each other. */
function rateNearness({ name = '', text, doc = '' }: CodeHit, { terms }: ParsedQuery): number {
  const words = splitWords(`${name} ${text} ${doc}`).map(toSingular);
  const at = words.flatMap((word, index) => {
    const term = terms.findIndex(({ forms }) => forms.includes(word));
    return term === -1 ? [] : [{ term, index }];
  });
  const found = new Set(at.map(({ term }) => term)).size;
  if (found < 2) return 1;
  return 1 + (maxGain * (found - 1)) / Math.max(1, shortestSpan(at, found));
}

interface WordPosition {
  readonly term: number;
  readonly index: number;
}

/** How many words the shortest part has that contains each term, without its first. */
function shortestSpan(positions: readonly WordPosition[], terms: number): number {
  const last = new Map<number, number>();
  let shortest = Number.POSITIVE_INFINITY;
  for (const { term, index } of positions) {
    last.set(term, index);
    if (last.size === terms) shortest = Math.min(shortest, index - Math.min(...last.values()));
  }
  return shortest;
}
