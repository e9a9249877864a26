import { plainName } from './literal-directory.ts';

/** Enough for any path. The siblings at the end of a longer path are searched as well. */
const maxPatterns = 300;

/**
 * Returns ripgrep options for a pattern that begins with plain directory names: exclude all siblings of those
 * directories, because nothing in them can match. To search only from the last directory would be shorter, but would
 * find ignored files. The siblings are described by the first letter that differs, so nobody has to list them.
 */
export function excludeSiblings(pattern: string): string[] {
  const left: string[] = [];
  let above = '';
  for (const name of pattern.split('/').slice(0, -1)) {
    if (!plainName.test(name) || left.length + name.length * 2 > maxPatterns) break;
    for (const other of patternsForOtherNames(name)) left.push(`--glob=!${above}/${other}`);
    above = `${above}/${name}`;
  }
  return left;
}

/** Returns patterns for every name but this one: names that differ in a letter, shorter ones and longer ones. */
function patternsForOtherNames(name: string): string[] {
  const beginnings = Array.from(name, (letter, at) => ({ start: name.slice(0, at), letter }));
  const differing = beginnings.map(({ start, letter }) => `${start}[!${letter}]*`);
  const shorter = beginnings.slice(1).map(({ start }) => start);
  return [...differing, ...shorter, `${name}?*`];
}
