import { splitWords, toSingular } from '../core/code/search/split-words.ts';

/** Words of most sentences, and words that languages themselves put into most signatures. */
const frequent = new Set(
  (
    'a an and are as at be been before but by can do does each for from has have if in into is it its may must no not of on ' +
    'one only or other so such than that the then there these they this those to was when where which while who whose will ' +
    'with without abstract async await boolean bool class const constant def default enum export extend extends fn float ' +
    'func function impl implement import int interface let long number object override private promise protected pub public ' +
    'readonly return self static string struct super type undefined unknown unsigned var void'
  ).split(' '),
);

/** Whether a definition that has the word in its signature or comment is told apart by it. Its name is another matter. */
export function isDistinctiveWord(word: string): boolean {
  return word.length > 1 && !frequent.has(word);
}

/** Directories further up are shared by too many files. */
const maxNames = 4;

/** The words in the name of a file and of the directories nearest to it. Numbers and the extension are left out. */
export function toPathWords(path: string): string[] {
  const names = path
    .replace(/\.[^./]*$/, '')
    .split('/')
    .slice(-maxNames);
  return [...new Set(names.flatMap(splitWords).map(toSingular))].filter((word) => !/^\p{N}+$/u.test(word));
}
