import { posix } from 'node:path';
import type { Files } from '../files/files.ts';
import { rethrowUnreachable } from '../files/rethrow-unreachable.ts';
import type { ListedDirectory } from './list-project-directories.ts';
import type { ProjectDirectory } from './profile.ts';

const maxSettingsBytes = 1024 * 1024;
const maxFilesBelow = 300;
const missingStamp = 'not there';

/** Stamps of the files that a result depends on, by path, including files that did not exist. */
export type Stamps = Map<string, string>;

/** The directories of a workspace, as they were listed a moment ago. */
export interface ProjectTree {
  readonly files: Files;
  readonly directories: ReadonlyMap<string, ListedDirectory>;
  /** Filled with a stamp of every file that is looked up. */
  readonly stamps: Stamps;
}

export function openProjectDirectory(tree: ProjectTree, directory: ListedDirectory): ProjectDirectory {
  const { path, entries } = directory;
  const names = fileNamesOf(directory);
  const directories = new Set(entries.filter(({ kind }) => kind === 'directory').map(({ name }) => name));
  return {
    path,
    names,
    directories,
    has: (...wanted) => wanted.some((name) => names.has(name)),
    findAbove: (...wanted) => findAbove(tree, path, wanted),
    filesBelow: (endings) => filesBelow(tree, path, endings),
    async read(name) {
      const file = posix.join(path, name);
      return (await recordAndCheckExists(tree, file)) ? readText(tree.files, file) : undefined;
    },
    findProgram: (paths, name) => findProgram(tree, path, { paths, name }),
  };
}

const fileNames = new WeakMap<ListedDirectory, ReadonlySet<string>>();

/** Cached, because each package of a monorepo asks for the root's names again. */
function fileNamesOf(directory: ListedDirectory): ReadonlySet<string> {
  const known = fileNames.get(directory);
  if (known) return known;
  const names = new Set(directory.entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name));
  fileNames.set(directory, names);
  return names;
}

function findAbove({ directories }: ProjectTree, path: string, wanted: readonly string[]): string | undefined {
  for (const above of levelsAbove(path)) {
    const directory = directories.get(above);
    const name = directory && wanted.find((one) => fileNamesOf(directory).has(one));
    if (name !== undefined) return posix.join(posix.relative(path, above), name);
  }
  return undefined;
}

function filesBelow({ directories }: ProjectTree, path: string, endings: readonly string[]): string[] {
  const prefix = path === '' ? '' : `${path}/`;
  const found: string[] = [];
  for (const directory of directories.values()) {
    if (directory.path !== path && !directory.path.startsWith(prefix)) continue;
    const own = directory.entries
      .filter(({ name, kind }) => kind === 'file' && endings.some((ending) => name.endsWith(ending)))
      .map(({ name }) => posix.join(posix.relative(path, directory.path), name));
    found.push(...own);
    if (found.length >= maxFilesBelow) break;
  }
  return found.slice(0, maxFilesBelow);
}

async function findProgram(
  tree: ProjectTree,
  path: string,
  { paths: directories, name }: { paths: readonly string[]; name: string },
): Promise<string> {
  for (const above of levelsAbove(path)) {
    for (const directory of directories) {
      const program = posix.join(above, directory, name);
      if (!mayHave(tree, above, posix.join(directory, name)) || !(await recordAndCheckExists(tree, program))) continue;
      const relative = posix.join(posix.relative(path, above), directory, name);
      return relative.startsWith('../') ? relative : `./${relative}`;
    }
  }
  return name;
}

/**
 * Spares a stat of every tool in every package: a name that is not listed does not exist, and listings are compared
 * each time.
 */
function mayHave({ directories }: ProjectTree, directory: string, path: string): boolean {
  const listed = directories.get(directory);
  if (!listed || listed.cut) return true;
  const [first] = path.split('/');
  return listed.entries.some(({ name }) => name === first);
}

async function recordAndCheckExists({ files, stamps }: ProjectTree, path: string): Promise<boolean> {
  const stamp = stamps.get(path) ?? (await stampOf(files, path));
  stamps.set(path, stamp);
  return stamp !== missingStamp;
}

async function readText(files: Files, path: string): Promise<string | undefined> {
  try {
    const { bytes } = await files.read(path, { maxBytes: maxSettingsBytes });
    const text = bytes.toString('utf8');
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  } catch (thrown) {
    rethrowUnreachable(thrown);
    return undefined;
  }
}

/** Lists the directory and those above it, the root last. */
function levelsAbove(path: string): string[] {
  const names = path === '' ? [] : path.split('/');
  return Array.from({ length: names.length + 1 }, (_, gone) => names.slice(0, names.length - gone).join('/'));
}

/** Returns a stamp that changes whenever the file does. */
export async function stampOf(files: Files, path: string): Promise<string> {
  try {
    const { mtimeMs, size, path: real } = await files.stat(path);
    return [real, mtimeMs, size].join();
  } catch (thrown) {
    rethrowUnreachable(thrown);
    return missingStamp;
  }
}
