import type { Following } from '../init/following.ts';
import type { createTouches } from './touches.ts';
import type { Touch } from './tree-index.ts';

/** Changes that come this close together are told together. */
const coalesceMs = 50;

export interface WatchMeans {
  readonly following: Following;
  readonly touches: ReturnType<typeof createTouches>;
  /** Whatever it finds is told to all watchers. */
  look(): Promise<unknown>;
}

export function watchTree(
  { following, touches, look }: WatchMeans,
  onChange: (changes: readonly Touch[]) => void,
  signal: AbortSignal,
): void {
  if (signal.aborted) return;
  let timer: NodeJS.Timeout | undefined;
  // What cannot be looked at now is told after the next change.
  const lookNow = () => void look().catch(() => {});
  const lookSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      lookNow();
    }, coalesceMs);
  };
  const watcher = (changes: readonly Touch[]) => onChange(changes);
  touches.watchers.add(watcher);
  const listening = following.onChange(lookSoon);
  lookNow();
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    touches.watchers.delete(watcher);
    listening[Symbol.dispose]();
  });
}
