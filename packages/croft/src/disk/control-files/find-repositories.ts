import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { gitBulk, toObeyedName } from '../../core/control-files/control-file-names.ts';
import type { FileKind } from '../../core/files/files.ts';
import { parentPath, pathBelow } from '../../core/files/workspace-path.ts';
import { kindOf } from '../paths/handles.ts';
import type { Repository } from './follow-git-settings.ts';
import { looksLikeGit } from './git-directory.ts';

/** Limits of the search, in levels and in entries. */
const maxDepth = 256;
const maxEntries = 4_000_000;
const turnMs = 4;
const entriesPerLook = 256;
/** A directory of this size has some thousand entries on any file system. */
const smallBytes = 64 * 1024;

export interface Repositories {
  readonly directories: readonly Repository[];
  /** Files and links named `.git`. */
  readonly gitFiles: readonly string[];
  /** Control files that are links. */
  readonly links: readonly { readonly path: string; readonly name: string }[];
}

interface Search {
  readonly handle: number;
  readonly directories: Repository[];
  readonly gitFiles: string[];
  readonly links: { path: string; name: string }[];
  entriesLeft: number;
  turnEndsAt: number;
}

/**
 * Finds the git directories below an open directory, and the files and links that lead elsewhere. Skips `node_modules`.
 */
export async function findRepositories(handle: number): Promise<Repositories> {
  const search: Search = { handle, directories: [], gitFiles: [], links: [], entriesLeft: maxEntries, turnEndsAt: 0 };
  for (let level = [''], depth = 0; level.length > 0 && depth < maxDepth; depth++) {
    const next: string[] = [];
    for (const path of level) next.push(...(await searchDirectory(search, path)));
    level = next;
  }
  return search;
}

/** Searches one directory. Returns its sub-directories that are to be searched. */
async function searchDirectory(search: Search, path: string): Promise<string[]> {
  const kinds = await readKinds(search, path);
  const isDotGit = path === '.git' || path.endsWith('/.git');
  const isGit = isDotGit || looksLikeGit((name) => kinds.get(name));
  if (isGit) search.directories.push({ git: path, tree: isDotGit ? parentPath(path) : path });
  for (const [name, kind] of kinds) noteEntry(search, pathBelow(path, name), name, kind);
  const isSearched = (name: string) => name !== 'node_modules' && !(isGit && gitBulk.has(name));
  return [...kinds]
    .filter(([name, kind]) => kind === 'directory' && isSearched(name))
    .map(([name]) => pathBelow(path, name));
}

function noteEntry(search: Search, path: string, name: string, kind: FileKind): void {
  if (name === '.git' && kind !== 'directory') search.gitFiles.push(path);
  const obeyed = kind === 'link' ? toObeyedName(name) : undefined;
  if (obeyed !== undefined) search.links.push({ path, name: obeyed });
}

async function readKinds(search: Search, path: string): Promise<ReadonlyMap<string, FileKind>> {
  const kinds = new Map<string, FileKind>();
  const directory = `/proc/self/fd/${search.handle}/${path}`;
  try {
    for (const entry of listEntries(directory)) {
      if (--search.entriesLeft < 0) break;
      kinds.set(entry.name, kindOf(entry));
      if (search.entriesLeft % entriesPerLook === 0) await takeTurns(search);
    }
  } catch {
    // The directory is gone or not readable: then the tools cannot read it either.
  }
  await takeTurns(search);
  return kinds;
}

/**
 * Reads a small directory at once, which takes half the time, and a large one in pieces, so that other work can run in
 * between.
 */
function listEntries(directory: string): Iterable<Dirent> {
  return statSync(directory).size <= smallBytes
    ? readdirSync(directory, { withFileTypes: true })
    : readPieces(directory);
}

function* readPieces(directory: string): Generator<Dirent> {
  using entries = opendirSync(directory, { bufferSize: 256 });
  for (let entry = entries.readSync(); entry; entry = entries.readSync()) yield entry;
}

/**
 * Yields to the event loop after some milliseconds. Reading each directory on a thread would take many times as long.
 */
async function takeTurns(search: Search): Promise<void> {
  if (performance.now() < search.turnEndsAt) return;
  await setImmediate();
  search.turnEndsAt = performance.now() + turnMs;
}
