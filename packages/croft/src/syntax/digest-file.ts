import type { ParsedFile } from '../core/code/code-symbol.ts';
import { splitWords, toSingular } from '../core/code/search/split-words.ts';
import type { FileDigest } from '../core/code/syntax.ts';

const maxNames = 20_000;
const maxNameLength = 100;
const maxTextLength = 500;
const maxMentions = 2000;
const name = /[\p{L}\p{N}_$]+/gu;

/** Reduces a parsed file to the parts that the index stores. */
export function digestFile({ language, symbols, words }: ParsedFile, text: string): FileDigest {
  return {
    language,
    symbols: symbols
      .filter(isTelling)
      .map(({ name, kind, containers, signature, doc = '', isExported, at, endLine }) => ({
        ...{ name, kind, containers, signature: cut(signature), doc: cut(doc), isExported },
        ...{ line: at.line, endLine },
      })),
    words: findMentions(symbols, words),
    text: toWords(text),
  };
}

/** Reduces a file without a grammar to the words that the index stores. */
export function digestText(text: string): FileDigest {
  return { symbols: [], words: [], text: toWords(text) };
}

/** Members without code are found by their text: they are many, and say little without the type around them. */
function isTelling({ kind, doc }: ParsedFile['symbols'][number]): boolean {
  return (kind !== 'property' && kind !== 'field') || doc !== undefined;
}

/** A word that occurs only where the file defines it says nothing about other files. */
function findMentions(symbols: ParsedFile['symbols'], words: ParsedFile['words']): FileDigest['words'] {
  const defined = new Map<string, number>();
  for (const { name } of symbols) defined.set(name, (defined.get(name) ?? 0) + 1);
  const mentions: [string, number][] = [];
  for (const [word, count] of words) {
    const others = count - (defined.get(word) ?? 0);
    if (others > 0 && word.length > 2 && mentions.length < maxMentions) mentions.push([word, others]);
  }
  return mentions;
}

/** Names are collected before they are split, because most of them occur often. */
function toWords(text: string): string {
  const names = new Set<string>();
  for (const [found] of text.matchAll(name)) {
    if (found.length <= maxNameLength) names.add(found);
    if (names.size >= maxNames) break;
  }
  return [...new Set([...names].flatMap(splitWords).map(toSingular))].join(' ');
}

function cut(text: string): string {
  return text.slice(0, maxTextLength).toWellFormed();
}
