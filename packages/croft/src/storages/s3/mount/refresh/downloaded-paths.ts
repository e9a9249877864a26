import type { TreePath } from '../../../../core/history/ports/tree.ts';
import { bytesFromPath } from '../../../../lib/files/path-bytes.ts';
import { ancestorsOf } from '../../layout/object-keys.ts';

/** Tracks which paths of a new tree are files and which are directories: a bucket may have the same path as both. */
export function createDownloadedPaths(directory: string, make: (parent: Buffer) => void) {
  const [files, directories] = [new Set<TreePath>(), new Set<TreePath>()];
  const diskPathOf = (path: TreePath) => Buffer.concat([Buffer.from(`${directory}/`), bytesFromPath(path)]);

  const blockOf = (path: TreePath) => [...ancestorsOf(path), path].find((name) => files.has(name));

  /** Creates a directory and its missing parents. */
  function addDirectory(path: TreePath): void {
    for (const name of path === '' ? [] : [...ancestorsOf(path), path]) {
      if (directories.has(name)) continue;
      make(diskPathOf(name));
      directories.add(name);
    }
  }

  return {
    diskPathOf: diskPathOf,
    /** The file that stands at a path or at one of its parents. */
    blockOf,
    /**
     * Registers a path and creates its parent directories. `late`: a file is in the way; `shadowed`: the path is
     * already a directory.
     */
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
