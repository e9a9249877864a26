import { closeSync } from 'node:fs';
import type { RawName } from '../core/history/raw-names.ts';
import { openDirectory } from '../disk/handles.ts';

const maxOpen = 64;

export interface PathHandles extends Disposable {
  /** Good until the caller waits. Throws what the kernel says, ENOTDIR for a link too. */
  handleOf(path: RawName): number;
  /** What was known of directories is over: some were made, moved or removed. */
  forget(): void;
}

/** Directories by their paths, gone into one name at a time from the root and never through a link. */
export function createPathHandles(root: number): PathHandles {
  const open = new Map<RawName, number>();

  function handleOf(path: RawName): number {
    if (path === '') return root;
    const known = open.get(path);
    if (known !== undefined) return known;
    const handle = openDirectory(handleOf(parentOf(path)), Buffer.from(nameOf(path), 'latin1'));
    const oldest = open.size >= maxOpen ? open.entries().next().value : undefined;
    if (oldest) {
      open.delete(oldest[0]);
      closeSync(oldest[1]);
    }
    open.set(path, handle);
    return handle;
  }

  function forget(): void {
    for (const handle of open.values()) closeSync(handle);
    open.clear();
  }

  return { handleOf, forget, [Symbol.dispose]: forget };
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
