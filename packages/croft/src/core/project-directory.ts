import { posix } from 'node:path';
import type { DirectoryEntry, Files } from './files.ts';
import type { ProjectDirectory } from './profile.ts';

const maxSettingsBytes = 1024 * 1024;

export interface Directory {
  /** From the root of the workspace, which is `''`. */
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
}

/** A file that an answer came from, and how it was then. */
export interface ReadFile {
  readonly path: string;
  readonly stamp: string;
}

/** Tells of everything that is looked at. */
export function openProject(files: Files, directory: Directory, onRead: (file: ReadFile) => void): ProjectDirectory {
  const { path, entries } = directory;
  const names = new Set(entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name));
  const directories = new Set(entries.filter(({ kind }) => kind === 'directory').map(({ name }) => name));
  const look = async (file: string): Promise<string> => {
    const stamp = await stampOf(files, file);
    onRead({ path: file, stamp });
    return stamp;
  };
  return {
    path,
    names,
    directories,
    has: (...wanted) => wanted.some((name) => names.has(name)),
    async read(name) {
      const file = posix.join(path, name);
      if ((await look(file)) === 'not there') return undefined;
      return readText(files, file);
    },
    async findProgram(places, name) {
      for (const above of levelsAbove(path)) {
        for (const place of places) {
          if ((await look(posix.join(above, place, name))) !== 'not there') {
            return posix.join(posix.relative(path, above) || '.', place, name).replace(/^(?!\.)/, './');
          }
        }
      }
      return name;
    },
  };
}

async function readText(files: Files, path: string): Promise<string | undefined> {
  try {
    const { bytes } = await files.read(path, { maxBytes: maxSettingsBytes });
    const text = bytes.toString('utf8');
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  } catch {
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
  } catch {
    return 'not there';
  }
}
