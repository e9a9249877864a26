import type { TreePath } from '../../core/history/ports/tree.ts';
import type { TouchedPath } from './tree-index.ts';

/** With more paths than this, `everything` is reported. */
const maxPaths = 100_000;

type UnreportedPaths = Set<TreePath> | 'everything';

/** Tracks which touched paths each asker has not been given yet. */
export function createTouchedPaths() {
  const unreported = new Map<string, UnreportedPaths>();
  const watchers = new Set<(changes: readonly TouchedPath[]) => void>();

  return {
    watchers,
    add(paths: readonly TouchedPath[]): void {
      if (paths.length === 0) return;
      for (const [asker, touched] of unreported) unreported.set(asker, added(touched, paths));
      for (const watcher of watchers) watcher(paths);
    },
    /** Returns `everything` to an asker that asks for the first time. */
    takeUnreported(asker: string): ReadonlySet<TreePath> | 'everything' {
      const touched = unreported.get(asker) ?? 'everything';
      unreported.set(asker, new Set());
      return touched;
    },
  };
}

function added(unreported: UnreportedPaths, touches: readonly TouchedPath[]): UnreportedPaths {
  if (unreported === 'everything' || unreported.size + touches.length > maxPaths) return 'everything';
  for (const { path } of touches) unreported.add(path);
  return unreported;
}
