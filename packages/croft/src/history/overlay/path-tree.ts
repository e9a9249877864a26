import type { TreePath } from '../../core/history/ports/tree.ts';

/** Paths as a tree of names, so that each directory on the way is entered once. */
export interface PathNode {
  /** Set if this node is one of the paths, and not only on the way to one. */
  path: TreePath | undefined;
  readonly children: Map<string, PathNode>;
}

/** Skips the root itself, which always exists. */
export function treeOfPaths(paths: Iterable<TreePath>): PathNode {
  const root = newNode();
  for (const path of paths) {
    if (path === '') continue;
    let node = root;
    for (const name of path.split('/')) {
      const child = node.children.get(name) ?? newNode();
      node.children.set(name, child);
      node = child;
    }
    node.path = path;
  }
  return root;
}

/** Yields the paths at this node and below it. */
export function* pathsOf({ path, children }: PathNode): Generator<TreePath> {
  if (path !== undefined) yield path;
  for (const child of children.values()) yield* pathsOf(child);
}

function newNode(): PathNode {
  return { path: undefined, children: new Map() };
}
