import { closeSync } from 'node:fs';
import { openDirectory } from '../disk/handles.ts';
import type { DirectoryNode } from './tree-nodes.ts';

const maxOpen = 64;

export interface OpenDirectories extends Disposable {
  /** Good until the caller waits. Throws what the kernel says where there is no such directory any more. */
  handleOf(node: DirectoryNode): number;
}

/** Directories that are gone into one name at a time from the root, and kept open for a while. */
export function createOpenDirectories(root: number): OpenDirectories {
  const open = new Map<DirectoryNode, number>();

  function close(node: DirectoryNode, handle: number): void {
    open.delete(node);
    closeSync(handle);
  }

  function handleOf(node: DirectoryNode): number {
    if (!node.parent) return root;
    const known = open.get(node);
    if (known !== undefined) return known;
    const handle = openDirectory(handleOf(node.parent), rawName(node.name));
    const oldest = open.size >= maxOpen ? open.entries().next().value : undefined;
    if (oldest) close(...oldest);
    open.set(node, handle);
    return handle;
  }

  return {
    handleOf,
    [Symbol.dispose]() {
      for (const [node, handle] of [...open]) close(node, handle);
    },
  };
}

function rawName(name: string): Buffer {
  return Buffer.from(name, 'latin1');
}
