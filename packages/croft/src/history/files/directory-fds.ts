import { closeSync } from 'node:fs';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { openDirectory } from '../../disk/paths/handles.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';

const maxOpen = 64;

export interface DirectoryFds extends Disposable {
  /**
   * Returns a descriptor that is valid until the caller awaits. Throws the error of the kernel, `ENOTDIR` for a link
   * too.
   */
  fdOf(path: RawName): number;
  /** Closes all descriptors, because directories were made, moved or removed. */
  forget(): void;
}

/** Opens directories by path, one name at a time from the root and never through a link. */
export function createDirectoryFds(rootFd: number): DirectoryFds {
  const open = new BoundedMap<RawName, number>(maxOpen, closeSync);

  function fdOf(path: RawName): number {
    if (path === '') return rootFd;
    const known = open.get(path);
    if (known !== undefined) return known;
    const handle = openDirectory(fdOf(parentOf(path)), Buffer.from(nameOf(path), 'latin1'));
    open.set(path, handle);
    return handle;
  }

  function forget(): void {
    for (const handle of open.values()) closeSync(handle);
    open.clear();
  }

  return { fdOf, forget, [Symbol.dispose]: forget };
}

export function parentOf(path: RawName): RawName {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

export function nameOf(path: RawName): RawName {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function depthOf(path: RawName): number {
  return path.split('/').length;
}
