import { posix } from 'node:path';
import { compileGlob } from '../../lib/text/glob.ts';
import type { DirectoryEntry, Files } from '../files.ts';
import type { NamedFile } from '../projects/profile.ts';

export interface NamedSearch {
  readonly files: Files;
  /** Of the project, from the root of the workspace. */
  readonly directory: string;
  /** Whether the runner may be given files alone. */
  readonly takesOnlyFiles: boolean;
}

/**
 * What a script names, as its program would be told: the files of a pattern where a shell would put them, and where some
 * versions of the program would not find them. One that nothing fits stays as it is, as in a shell.
 */
export async function expandNamed(named: readonly NamedFile[], search: NamedSearch): Promise<string[]> {
  const found: string[] = [];
  for (const one of named) found.push(...(await expand(one, search)));
  return [...new Set(found)];
}

async function expand({ text, isForShell }: NamedFile, search: NamedSearch): Promise<readonly string[]> {
  if (!/[*?[{]/.test(text)) return [text];
  // For a shell two stars are one, and braces are nothing; who finds files himself means more by them.
  const byShell = isForShell ? await match(text.replace(/\*{2,}/g, '*').replace(/[{}]/g, '\\$&'), search) : [];
  if (byShell.length > 0) return byShell;
  const itself = search.takesOnlyFiles ? await match(text, search) : [];
  return itself.length > 0 ? itself : [text];
}

/** None for a pattern that is none, and in a tree that has no end: a part of the files would be called all of them. */
async function match(pattern: string, { files, directory }: NamedSearch): Promise<string[]> {
  const start = literalStart(pattern);
  const isMatch = compile(pattern);
  if (!isMatch || start.startsWith('..') || start.startsWith('/')) return [];
  const paths = await listBelow(files, directory, start);
  return (paths ?? []).filter(isMatch).sort();
}

function compile(pattern: string): ((path: string) => boolean) | undefined {
  try {
    // Otherwise a pattern without directories is of files in all of them.
    return compileGlob(`./${pattern}`);
  } catch {
    return undefined;
  }
}

/** The directories before the first that is a pattern. */
function literalStart(pattern: string): string {
  const names = pattern.split('/');
  const end = names.findIndex((name) => /[*?[{\\]/.test(name));
  const start = posix.normalize(names.slice(0, Math.max(0, end)).join('/') || '.');
  return start === '.' ? '' : start;
}

const maxDepth = 16;
const maxDirectories = 5000;
const maxEntries = 10_000;

/** From the project's directory. Nothing if there is more than can be listed. */
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

/** Wildcards are never of hidden files, and nobody's tests are among what is fetched. */
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
