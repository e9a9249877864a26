import { closeSync, lstatSync } from 'node:fs';
import { fileNotFound } from '../../core/files/path-errors.ts';
import { toSegments } from '../../core/files/workspace-path.ts';
import { at, openDirectory } from '../paths/handles.ts';
import { runInCurrentDirectory } from '../paths/run-in-current-directory.ts';
import { type WorkspaceRoot, walk } from '../paths/walk.ts';

/**
 * Returns modification times in the order of `paths`, 0 for a file that is missing or behind a link. The paths of a
 * search mostly come directory by directory, so each directory is opened once for its consecutive names.
 */
export function modifiedTimes(root: WorkspaceRoot, paths: readonly string[]): number[] {
  const times: number[] = [];
  using above = createOpenDirectoryCache(root);
  for (let start = 0; start < paths.length; ) {
    const prefix = directoryOf(paths[start] ?? '');
    const end = endOfRun(paths, start, prefix);
    const names = paths.slice(start, end).map((path) => path.slice(prefix.length));
    for (const time of timesIn(root, above, prefix, names)) times.push(time);
    start = end;
  }
  return times;
}

/** The directory of a path, with a slash at its end; empty for the root. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function endOfRun(paths: readonly string[], start: number, prefix: string): number {
  let end = start + 1;
  while (end < paths.length && isIn(paths[end] ?? '', prefix)) end++;
  return end;
}

function isIn(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && !path.includes('/', prefix.length);
}

function timesIn(
  root: WorkspaceRoot,
  above: OpenDirectoryCache,
  directory: string,
  names: readonly string[],
): number[] {
  try {
    const segments = toSegments(directory, root.names);
    const name = segments.pop();
    if (name === undefined) return timesOf(root.handle, names);
    const handle = openDirectory(above.at(segments.join('/')), name);
    try {
      return timesOf(handle, names);
    } finally {
      closeSync(handle);
    }
  } catch {
    // The directory was moved or replaced during the search: a sort order is not worth an error.
    return names.map(() => 0);
  }
}

function timesOf(directoryFd: number, names: readonly string[]): number[] {
  return runInCurrentDirectory(directoryFd, (isInside) =>
    names.map((name) => timeOf(isInside ? name : at(directoryFd, name), name)),
  );
}

function timeOf(path: string, name: string): number {
  if (name === '' || name === '.' || name === '..' || name.includes('\0')) return 0;
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

interface OpenDirectoryCache extends Disposable {
  /** A handle to the directory, valid until the next call. */
  at(path: string): number;
}

/** Keeps the last directory open, because the next one is mostly its sibling. */
function createOpenDirectoryCache(root: WorkspaceRoot): OpenDirectoryCache {
  let current = { path: '', handle: root.handle };
  const letGo = () => {
    if (current.handle !== root.handle) closeSync(current.handle);
    current = { path: '', handle: root.handle };
  };
  return {
    at(path) {
      if (path === current.path) return current.handle;
      letGo();
      using resolved = walk(root, path, { follow: false });
      const found = resolved.take();
      if (!found) throw fileNotFound(path);
      current = { path, handle: found.handle };
      return current.handle;
    },
    [Symbol.dispose]: letGo,
  };
}
