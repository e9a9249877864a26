import type { TreePath } from '../core/history/tree.ts';
import type { Touch } from './tree-index.ts';

/** More paths than this are everything. */
const maxPaths = 100_000;

type Told = Set<TreePath> | 'everything';

/** Who has been told of which changes. */
export function createTouches() {
  const untold = new Map<string, Told>();
  const watchers = new Set<(changes: readonly Touch[]) => void>();

  return {
    watchers,
    add(touches: readonly Touch[]): void {
      if (touches.length === 0) return;
      for (const [asker, told] of untold) untold.set(asker, added(told, touches));
      for (const watcher of watchers) watcher(touches);
    },
    /** Who asks for the first time has missed everything. */
    tell(asker: string): ReadonlySet<TreePath> | 'everything' {
      const told = untold.get(asker) ?? 'everything';
      untold.set(asker, new Set());
      return told;
    },
  };
}

function added(told: Told, touches: readonly Touch[]): Told {
  if (told === 'everything' || told.size + touches.length > maxPaths) return 'everything';
  for (const { path } of touches) told.add(path);
  return told;
}
