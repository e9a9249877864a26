import type { DirectoryEntry, Files } from '../files.ts';
import { mustBeReachable } from '../unreachable.ts';

/** Beyond these nobody keeps a project of their own, and hostile trees have no end. */
const maxDepth = 4;
const maxDirectories = 500;
const maxEntriesEach = 5000;
const maxEntries = 30_000;
const atOnce = 8;

/** What is made, fetched or kept as an example for tests rather than worked on. */
const notWorkedOn = new Set([
  ...['node_modules', 'bower_components', 'vendor', 'third_party', 'Pods', 'deps', 'site-packages'],
  ...['target', 'dist', 'build', 'out', 'obj', 'coverage', 'zig-cache', 'zig-out', '_build', '__pycache__'],
  ...['venv', 'env', 'testdata', 'fixtures', '__fixtures__'],
]);

export interface Directory {
  /** From the root of the workspace, which is `''`. */
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  /** There are more entries than these. */
  readonly cut: boolean;
}

/** The directories that may be projects, breadth first. One that cannot be read is none. */
export async function survey(files: Files): Promise<readonly Directory[]> {
  const found: Directory[] = [];
  const room = { directories: maxDirectories, entries: maxEntries };
  let level = [''];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
    const listed = await listLevel(files, level, room);
    found.push(...listed.toSorted((one, other) => (one.path < other.path ? -1 : 1)));
    level = inTurns(listed.map(childrenOf));
  }
  return found;
}

async function listLevel(
  files: Files,
  level: readonly string[],
  room: { directories: number; entries: number },
): Promise<Directory[]> {
  const listed: Directory[] = [];
  for (let start = 0; start < level.length && room.directories > 0 && room.entries > 0; start += atOnce) {
    const batch = level.slice(start, start + Math.min(atOnce, room.directories));
    const limit = Math.min(maxEntriesEach, room.entries);
    const answers = await Promise.all(batch.map((path) => list(files, path, limit)));
    const there = answers.filter((directory) => directory !== undefined);
    // Those that cannot be read count as well, or a tree of them would have no end.
    room.directories -= batch.length;
    room.entries -= there.reduce((sum, { entries }) => sum + entries.length, 0);
    listed.push(...there);
  }
  return listed;
}

async function list(files: Files, path: string, limit: number): Promise<Directory | undefined> {
  try {
    const { entries, cut } = await files.list(path, { limit });
    return { path, entries, cut };
  } catch (thrown) {
    mustBeReachable(thrown);
    return undefined;
  }
}

/** A link to a directory is not followed: it leads to what is found anyway, round in a circle, or out. */
function childrenOf({ path, entries }: Directory): string[] {
  return entries
    .filter(({ name, kind }) => kind === 'directory' && !name.startsWith('.') && !notWorkedOn.has(name))
    .map(({ name }) => (path === '' ? name : `${path}/${name}`));
}

/** The first of each, then the second of each: a directory of a thousand others takes no room from its neighbours. */
function inTurns(lists: readonly (readonly string[])[]): string[] {
  const taken: string[] = [];
  for (let turn = 0; taken.length <= maxDirectories; turn++) {
    const row = lists.flatMap((list) => list[turn] ?? []);
    if (row.length === 0) return taken;
    taken.push(...row);
  }
  return taken;
}
