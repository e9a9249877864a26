import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { gitBulk } from '../../core/control-files/control-file-names.ts';
import type { FileKind } from '../../core/files/files.ts';
import { pathBelow } from '../../core/files/workspace-path.ts';
import { kindOf } from '../paths/handles.ts';
import type { NamedEntries } from './find-entries-by-name.ts';
import { looksLikeGit } from './is-git-directory.ts';

const turnMs = 4;
const entriesPerStep = 256;
/** A directory of this size has some thousand entries on any file system. */
const smallBytes = 64 * 1024;

interface WalkLimits {
  readonly maxDepth: number;
  readonly maxEntries: number;
  /** Names of directories that are not entered. */
  readonly skipped: readonly string[];
}

interface Search {
  readonly handle: number;
  entriesLeft: number;
  turnEndsAt: number;
}

/**
 * Does what `native/files/find-names.c` does, on the main thread and in short turns, for a server without the addon.
 * Returns every directory with all of its names.
 */
export async function findEntriesByNameInSteps(
  handle: number,
  { maxDepth, maxEntries, skipped }: WalkLimits,
): Promise<NamedEntries[]> {
  const search: Search = { handle, entriesLeft: maxEntries, turnEndsAt: 0 };
  const found: NamedEntries[] = [];
  for (let level = [''], depth = 0; level.length > 0 && depth < maxDepth; depth++) {
    const next: string[] = [];
    for (const path of level) {
      const entries = { path, kinds: await readKinds(search, path) };
      found.push(entries);
      next.push(...subdirectoriesOf(entries, skipped));
    }
    level = next;
  }
  return found;
}

function subdirectoriesOf({ path, kinds }: NamedEntries, skipped: readonly string[]): string[] {
  const isGit = path === '.git' || path.endsWith('/.git') || looksLikeGit((name) => kinds.get(name));
  const isEntered = (name: string) => !skipped.includes(name) && !(isGit && gitBulk.has(name));
  return [...kinds].flatMap(([name, kind]) => (kind === 'directory' && isEntered(name) ? pathBelow(path, name) : []));
}

async function readKinds(search: Search, path: string): Promise<ReadonlyMap<string, FileKind>> {
  const kinds = new Map<string, FileKind>();
  const directory = `/proc/self/fd/${search.handle}/${path}`;
  try {
    for (const entry of listEntries(directory)) {
      if (--search.entriesLeft < 0) break;
      kinds.set(entry.name, kindOf(entry));
      if (search.entriesLeft % entriesPerStep === 0) await takeTurns(search);
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
