import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const directories = 40;
const bytesPerFile = 5600;
/** Names that every copy has under another name, so that copies are not alike. */
const renamed = /\b[a-z]+[A-Z][A-Za-z]{5,}\b/g;

export interface LargeTree {
  readonly directory: string;
  readonly paths: readonly string[];
  readonly bytes: number;
}

/**
 * Makes a tree of real TypeScript: parts of the given sources, each copy with names of its own. A file has 5.6 kB on
 * average, as in the projects that the goals come from.
 */
export function makeLargeTree(sources: string, directory: string, count: number): LargeTree {
  const originals = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((path) => readFileSync(join(sources, path), 'utf8'));
  const paths: string[] = [];
  let bytes = 0;
  for (let number = 0; number < count; number++) {
    const text = toText(originals, number);
    const path = `area-${number % directories}/part-${Math.floor(number / directories) % 50}/module-${number}.ts`;
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
    paths.push(path);
    bytes += text.length;
  }
  return { directory, paths, bytes };
}

function toText(originals: readonly string[], number: number): string {
  let text = '';
  for (let part = 0; text.length < bytesPerFile - 1200; part++)
    text += originals[(number * 7 + part * 131) % originals.length] ?? '';
  const copy = Math.floor((number * 7) / originals.length);
  return text.replace(renamed, (name) => ((name.length + copy) % 3 === 0 ? `${name}Of${toWord(copy)}` : name));
}

/** A word for a number: 0 is Ba, 1 is Be. */
function toWord(number: number): string {
  const [consonants, vowels] = ['bdfgklmnprstvz', 'aeiou'];
  const syllable = `${consonants[number % 14]}${vowels[Math.floor(number / 14) % 5]}`;
  const rest = Math.floor(number / 70);
  return `${syllable.charAt(0).toUpperCase()}${syllable.slice(1)}${rest > 0 ? toWord(rest).toLowerCase() : ''}`;
}
