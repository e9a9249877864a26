import type { TreePath } from '../core/history/tree.ts';

/** Paths by their names, so that each directory on the way to them is gone into once. */
export interface PathNode {
  /** Whether this is one of the paths, and not just on the way to one. */
  path: TreePath | undefined;
  readonly children: Map<string, PathNode>;
}

/** The root itself is in none: it is there whatever is told. */
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

/** At this place and below it. */
export function* pathsOf({ path, children }: PathNode): Generator<TreePath> {
  if (path !== undefined) yield path;
  for (const child of children.values()) yield* pathsOf(child);
}

function newNode(): PathNode {
  return { path: undefined, children: new Map() };
}
