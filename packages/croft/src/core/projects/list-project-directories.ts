import type { DirectoryEntry, Files } from '../files/files.ts';
import { rethrowUnreachable } from '../files/rethrow-unreachable.ts';

/** Depth limit: real projects are not deeper, and hostile trees have no end. */
const maxDepth = 4;
const maxDirectories = 500;
export const maxEntriesPerDirectory = 5000;
const maxEntries = 30_000;
const atOnce = 8;

/** Directories of build results, dependencies and test examples. */
const notWorkedOn = new Set([
  ...['node_modules', 'bower_components', 'vendor', 'third_party', 'Pods', 'deps', 'site-packages'],
  ...['target', 'dist', 'build', 'out', 'obj', 'coverage', 'zig-cache', 'zig-out', '_build', '__pycache__'],
  ...['venv', 'env', 'testdata', 'fixtures', '__fixtures__'],
]);

export interface ListedDirectory {
  /** Path from the workspace root, which is `''`. */
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  /** The directory has more entries than these. */
  readonly cut: boolean;
}

/** Whether two listings have the same entries. */
export function isSameDirectory(one: ListedDirectory, other: ListedDirectory): boolean {
  if (one === other) return true;
  if (one.path !== other.path || one.cut !== other.cut || one.entries.length !== other.entries.length) return false;
  return one.entries.every(({ name, kind }, at) => {
    const entry = other.entries[at];
    return entry?.name === name && entry.kind === kind;
  });
}

/** Lists the directories that may be projects, breadth first. Skips those that cannot be read. */
export async function listProjectDirectories(files: Files): Promise<readonly ListedDirectory[]> {
  const found: ListedDirectory[] = [];
  const budget = { directories: maxDirectories, entries: maxEntries };
  let level = [''];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
    const listed = await listLevel(files, level, budget);
    found.push(...listed.toSorted((one, other) => (one.path < other.path ? -1 : 1)));
    level = inTurns(listed.map(childrenOf));
  }
  return found;
}

async function listLevel(
  files: Files,
  level: readonly string[],
  budget: { directories: number; entries: number },
): Promise<ListedDirectory[]> {
  const listed: ListedDirectory[] = [];
  for (let start = 0; start < level.length && budget.directories > 0 && budget.entries > 0; start += atOnce) {
    const batch = level.slice(start, start + Math.min(atOnce, budget.directories));
    const limit = Math.min(maxEntriesPerDirectory, budget.entries);
    const answers = await Promise.all(batch.map((path) => listDirectory(files, path, limit)));
    const readable = answers.filter((directory) => directory !== undefined);
    // Unreadable directories use up the budget too, or a tree of them would have no end.
    budget.directories -= batch.length;
    budget.entries -= readable.reduce((sum, { entries }) => sum + entries.length, 0);
    listed.push(...readable);
  }
  return listed;
}

/**
 * Lists the directories from the root to `directory`, as far as they may be projects. `find` returns `undefined` for a
 * path that is no directory.
 */
export async function listDirectoriesTo(
  find: (path: string) => Promise<ListedDirectory | undefined>,
  directory: string,
): Promise<readonly ListedDirectory[]> {
  const found: ListedDirectory[] = [];
  const names = directory === '' ? [] : directory.split('/');
  for (let depth = 0; depth <= maxDepth; depth++) {
    const here = await find(names.slice(0, depth).join('/'));
    if (!here) return found;
    found.push(here);
    const next = names[depth];
    if (next === undefined || !here.entries.some((entry) => entry.name === next && isEntered(entry))) return found;
  }
  return found;
}

export async function listDirectory(files: Files, path: string, limit: number): Promise<ListedDirectory | undefined> {
  try {
    const { entries, cut } = await files.list(path, { limit });
    return { path, entries, cut };
  } catch (thrown) {
    rethrowUnreachable(thrown);
    return undefined;
  }
}

/** Links to directories are not followed: they lead to what is found anyway, in a circle, or out of the workspace. */
function isEntered({ name, kind }: DirectoryEntry): boolean {
  return kind === 'directory' && !name.startsWith('.') && !notWorkedOn.has(name);
}

function childrenOf({ path, entries }: ListedDirectory): string[] {
  return entries.filter(isEntered).map(({ name }) => (path === '' ? name : `${path}/${name}`));
}

/**
 * Takes the first of each list, then the second, and so on: a directory with a thousand children leaves room for its
 * neighbours.
 */
function inTurns(lists: readonly (readonly string[])[]): string[] {
  const taken: string[] = [];
  for (let turn = 0; taken.length <= maxDirectories; turn++) {
    const row = lists.flatMap((list) => list[turn] ?? []);
    if (row.length === 0) return taken;
    taken.push(...row);
  }
  return taken;
}
