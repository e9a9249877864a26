import { posix } from 'node:path';
import { filterInTurns } from '../../../lib/concurrency/turns.ts';
import { compileGlob } from '../../../lib/text/patterns/glob.ts';
import type { DirectoryEntry, Files } from '../../files/files.ts';
import type { NamedFile } from '../../projects/profile.ts';

interface NamedFileSearch {
  readonly files: Files;
  /** The project directory, from the workspace root. */
  readonly directory: string;
  /** The test runner takes files only, no patterns. */
  readonly takesOnlyFiles: boolean;
}

/**
 * Expands the file patterns of a script as a shell would, and as the program would where some of its versions cannot. A
 * pattern that matches nothing stays as it is, as in a shell.
 */
export async function expandNamedFiles(named: readonly NamedFile[], search: NamedFileSearch): Promise<string[]> {
  const found: string[] = [];
  for (const one of named) found.push(...(await expand(one, search)));
  return [...new Set(found)];
}

async function expand({ text, isForShell }: NamedFile, search: NamedFileSearch): Promise<readonly string[]> {
  if (!/[*?[{]/.test(text)) return [text];
  // A shell reads two stars as one and braces literally; a program that finds files itself gives both a meaning.
  const byShell = isForShell ? await match(text.replace(/\*{2,}/g, '*').replace(/[{}]/g, '\\$&'), search) : [];
  if (byShell.length > 0) return byShell;
  const itself = search.takesOnlyFiles ? await match(text, search) : [];
  return itself.length > 0 ? itself : [text];
}

/**
 * Returns no files for an invalid pattern, or for a tree too large to list: some of the files would be taken for all of
 * them.
 */
async function match(pattern: string, { files, directory }: NamedFileSearch): Promise<string[]> {
  const start = literalStart(pattern);
  const isMatch = compile(pattern);
  if (!isMatch || start.startsWith('..') || start.startsWith('/')) return [];
  const paths = await listBelow(files, directory, start);
  return (await filterInTurns(paths ?? [], isMatch).catch(() => [])).sort();
}

function compile(pattern: string): ((path: string) => boolean) | undefined {
  try {
    // Without `./`, a pattern without directories would match files in all directories.
    return compileGlob(`./${pattern}`);
  } catch {
    return undefined;
  }
}

/** Returns the directories before the first that has a wildcard. */
function literalStart(pattern: string): string {
  const names = pattern.split('/');
  const end = names.findIndex((name) => /[*?[{\\]/.test(name));
  const start = posix.normalize(names.slice(0, Math.max(0, end)).join('/') || '.');
  return start === '.' ? '' : start;
}

const maxDepth = 16;
const maxDirectories = 5000;
const maxEntries = 10_000;

/** Lists paths from the project directory; `undefined` if there are more than can be listed. */
async function listBelow(files: Files, directory: string, start: string): Promise<string[] | undefined> {
  const found: string[] = [];
  let level = [start];
  let seen = 0;
  for (let depth = 0; level.length > 0; depth++) {
    seen += level.length;
    if (depth > maxDepth || seen > maxDirectories) return undefined;
    const listings = await Promise.all(level.map((path) => list(files, posix.join(directory, path))));
    if (listings.some(({ cut }) => cut)) return undefined;
    const below = listings.flatMap(({ entries }, index) => entries.filter(isVisible).map(at(level[index] ?? '')));
    found.push(...below.filter(({ kind }) => kind !== 'directory').map(({ path }) => path));
    level = below.filter(({ kind }) => kind === 'directory').map(({ path }) => path);
  }
  return found;
}

const at =
  (directory: string) =>
  ({ name, kind }: DirectoryEntry) => ({ kind, path: posix.join(directory, name) });

/** Wildcards never match hidden files, and installed packages hold no tests of the project. */
function isVisible({ name }: DirectoryEntry): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

async function list(files: Files, path: string): Promise<{ entries: readonly DirectoryEntry[]; cut: boolean }> {
  try {
    return await files.list(path, { limit: maxEntries });
  } catch {
    return { entries: [], cut: false };
  }
}
