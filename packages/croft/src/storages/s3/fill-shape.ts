import type { TreePath } from '../../core/history/tree.ts';
import { bytesFromPath } from '../../lib/path-bytes.ts';
import { ancestorsOf } from './keys.ts';

/** Which names of a tree that is being made are files and which are directories: a bucket may have one as both. */
export function createShape(directory: string, make: (spot: Buffer) => void) {
  const [files, directories] = [new Set<TreePath>(), new Set<TreePath>()];
  const spotOf = (path: TreePath) => Buffer.concat([Buffer.from(`${directory}/`), bytesFromPath(path)]);

  const blockOf = (path: TreePath) => [...ancestorsOf(path), path].find((name) => files.has(name));

  /** A directory, and those it is in. */
  function addDirectory(path: TreePath): void {
    for (const name of path === '' ? [] : [...ancestorsOf(path), path]) {
      if (directories.has(name)) continue;
      make(spotOf(name));
      directories.add(name);
    }
  }

  return {
    spotOf,
    /** The file that is in the way of what is at a path. */
    blockOf,
    /** Makes room for what is at a path. `late`: a file is in the way; `shadowed`: it is a directory already. */
    admit(path: TreePath, isDirectory: boolean): 'late' | 'shadowed' | 'new' {
      if (blockOf(path) !== undefined) return 'late';
      addDirectory(isDirectory ? path : path.slice(0, Math.max(path.lastIndexOf('/'), 0)));
      if (isDirectory) return 'new';
      if (directories.has(path)) return 'shadowed';
      files.add(path);
      return 'new';
    },
    dropFile: (path: TreePath): void => void files.delete(path),
  };
}
