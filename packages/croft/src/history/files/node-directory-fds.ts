import { closeSync } from 'node:fs';
import { openDirectory } from '../../disk/paths/handles.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { DirectoryNode } from '../tree/tree-nodes.ts';

const maxOpen = 64;

export interface NodeDirectoryFds extends Disposable {
  /**
   * Returns a descriptor that is valid until the caller awaits. Throws the error of the kernel if the directory is
   * gone.
   */
  fdOf(node: DirectoryNode): number;
}

/** Opens directories of the tree one name at a time from the root, and keeps the last ones open. */
export function createNodeDirectoryFds(rootFd: number): NodeDirectoryFds {
  const open = new BoundedMap<DirectoryNode, number>(maxOpen, closeSync);

  function fdOf(node: DirectoryNode): number {
    if (!node.parent) return rootFd;
    const known = open.get(node);
    if (known !== undefined) return known;
    const handle = openDirectory(fdOf(node.parent), rawName(node.name));
    open.set(node, handle);
    return handle;
  }

  return {
    fdOf,
    [Symbol.dispose]() {
      for (const handle of open.values()) closeSync(handle);
      open.clear();
    },
  };
}

function rawName(name: string): Buffer {
  return Buffer.from(name, 'latin1');
}
