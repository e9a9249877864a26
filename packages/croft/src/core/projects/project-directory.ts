import { posix } from 'node:path';
import type { Files } from '../files.ts';
import { mustBeReachable } from '../unreachable.ts';
import type { ProjectDirectory } from './profile.ts';
import type { Directory } from './survey.ts';

const maxSettingsBytes = 1024 * 1024;
const maxFilesBelow = 300;
const notThere = 'not there';

/** The stamps of the files that an answer came from, by path, of those too that were not there. */
export type Stamps = Map<string, string>;

/** The directories of a workspace, as they were a moment ago. */
export interface Ground {
  readonly files: Files;
  readonly directories: ReadonlyMap<string, Directory>;
  /** Filled with everything that is looked at. */
  readonly stamps: Stamps;
}

export function openProject(ground: Ground, directory: Directory): ProjectDirectory {
  const { path, entries } = directory;
  const names = fileNamesOf(directory);
  const directories = new Set(entries.filter(({ kind }) => kind === 'directory').map(({ name }) => name));
  return {
    path,
    names,
    directories,
    has: (...wanted) => wanted.some((name) => names.has(name)),
    findAbove: (...wanted) => findAbove(ground, path, wanted),
    filesBelow: (endings) => filesBelow(ground, path, endings),
    async read(name) {
      const file = posix.join(path, name);
      return (await look(ground, file)) ? readText(ground.files, file) : undefined;
    },
    findProgram: (places, name) => findProgram(ground, path, { places, name }),
  };
}

const fileNames = new WeakMap<Directory, ReadonlySet<string>>();

/** The root is asked again by each package of a monorepo. */
function fileNamesOf(directory: Directory): ReadonlySet<string> {
  const known = fileNames.get(directory);
  if (known) return known;
  const names = new Set(directory.entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name));
  fileNames.set(directory, names);
  return names;
}

function findAbove({ directories }: Ground, path: string, wanted: readonly string[]): string | undefined {
  for (const above of levelsAbove(path)) {
    const directory = directories.get(above);
    const name = directory && wanted.find((one) => fileNamesOf(directory).has(one));
    if (name !== undefined) return posix.join(posix.relative(path, above), name);
  }
  return undefined;
}

function filesBelow({ directories }: Ground, path: string, endings: readonly string[]): string[] {
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
  ground: Ground,
  path: string,
  { places, name }: { places: readonly string[]; name: string },
): Promise<string> {
  for (const above of levelsAbove(path)) {
    for (const place of places) {
      const program = posix.join(above, place, name);
      if (!mayHave(ground, above, posix.join(place, name)) || !(await look(ground, program))) continue;
      const relative = posix.join(posix.relative(path, above), place, name);
      return relative.startsWith('../') ? relative : `./${relative}`;
    }
  }
  return name;
}

/** Spares a look at every tool of every package: what is not listed is not there, and the list is compared each time. */
function mayHave({ directories }: Ground, directory: string, path: string): boolean {
  const listed = directories.get(directory);
  if (!listed || listed.cut) return true;
  const [first] = path.split('/');
  return listed.entries.some(({ name }) => name === first);
}

async function look({ files, stamps }: Ground, path: string): Promise<boolean> {
  const stamp = stamps.get(path) ?? (await stampOf(files, path));
  stamps.set(path, stamp);
  return stamp !== notThere;
}

async function readText(files: Files, path: string): Promise<string | undefined> {
  try {
    const { bytes } = await files.read(path, { maxBytes: maxSettingsBytes });
    const text = bytes.toString('utf8');
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  } catch (thrown) {
    mustBeReachable(thrown);
    return undefined;
  }
}

/** The directory itself first, the root last. */
function levelsAbove(path: string): string[] {
  const names = path === '' ? [] : path.split('/');
  return Array.from({ length: names.length + 1 }, (_, gone) => names.slice(0, names.length - gone).join('/'));
}

/** Changes whenever the file does. */
export async function stampOf(files: Files, path: string): Promise<string> {
  try {
    const { mtimeMs, size, path: real } = await files.stat(path);
    return [real, mtimeMs, size].join();
  } catch (thrown) {
    mustBeReachable(thrown);
    return notThere;
  }
}
