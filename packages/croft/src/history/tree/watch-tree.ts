import type { FollowedTree } from '../../init/followed-tree.ts';
import type { createTouchedPaths } from './touched-paths.ts';
import type { TouchedPath } from './tree-index.ts';

/** Changes within this time are reported together. */
const coalesceMs = 50;

interface WatchTreeDependencies {
  readonly following: FollowedTree;
  readonly touches: ReturnType<typeof createTouchedPaths>;
  /** Scans the tree. Changes that it finds go to all watchers. */
  scan(): Promise<unknown>;
}

export function watchTree(
  { following, touches, scan }: WatchTreeDependencies,
  onChange: (changes: readonly TouchedPath[]) => void,
  signal: AbortSignal,
): void {
  if (signal.aborted) return;
  let timer: NodeJS.Timeout | undefined;
  // If a scan fails, its changes are reported after the next change.
  const scanNow = () => void scan().catch(() => {});
  const scanSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      scanNow();
    }, coalesceMs);
  };
  const watcher = (changes: readonly TouchedPath[]) => onChange(changes);
  touches.watchers.add(watcher);
  const listening = following.onChange(scanSoon);
  scanNow();
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    touches.watchers.delete(watcher);
    listening[Symbol.dispose]();
  });
}
