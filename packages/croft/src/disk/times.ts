import { closeSync, lstatSync } from 'node:fs';
import { toSegments } from '../core/path.ts';
import { missing } from '../core/path-errors.ts';
import { at, openDirectory } from './handles.ts';
import { inside } from './inside.ts';
import { type Root, walk } from './walk.ts';

/**
 * When each was last changed; 0 for what is not there, or only by a link on the way. The paths of a search mostly come
 * one directory after the other, so each is opened once for all of its names that stand together.
 */
export function modifiedTimes(root: Root, paths: readonly string[]): number[] {
  const times: number[] = [];
  using above = createHeldDirectory(root);
  for (let start = 0; start < paths.length; ) {
    const prefix = directoryOf(paths[start] ?? '');
    const end = endOfRun(paths, start, prefix);
    const names = paths.slice(start, end).map((path) => path.slice(prefix.length));
    for (const time of timesIn(root, above, prefix, names)) times.push(time);
    start = end;
  }
  return times;
}

/** With the slash at the end; empty for the root. */
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

function timesIn(root: Root, above: HeldDirectory, directory: string, names: readonly string[]): number[] {
  try {
    const segments = toSegments(directory, root.names);
    const name = segments.pop();
    if (name === undefined) return lookUp(root.handle, names);
    const handle = openDirectory(above.at(segments.join('/')), name);
    try {
      return lookUp(handle, names);
    } finally {
      closeSync(handle);
    }
  } catch {
    // Moved or swapped while it was searched: an order is not worth failing for.
    return names.map(() => 0);
  }
}

function lookUp(directory: number, names: readonly string[]): number[] {
  return inside(directory, (isInside) => names.map((name) => timeOf(isInside ? name : at(directory, name), name)));
}

function timeOf(path: string, name: string): number {
  if (name === '' || name === '.' || name === '..' || name.includes('\0')) return 0;
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

interface HeldDirectory extends Disposable {
  /** A handle to the directory, good until the next is asked for. */
  at(path: string): number;
}

/** Holds the directory asked for last: the next is mostly asked for beside it. */
function createHeldDirectory(root: Root): HeldDirectory {
  let held = { path: '', handle: root.handle };
  const letGo = () => {
    if (held.handle !== root.handle) closeSync(held.handle);
    held = { path: '', handle: root.handle };
  };
  return {
    at(path) {
      if (path === held.path) return held.handle;
      letGo();
      using spot = walk(root, path, { follow: false });
      const found = spot.take();
      if (!found) throw missing(path);
      held = { path, handle: found.handle };
      return held.handle;
    },
    [Symbol.dispose]: letGo,
  };
}
