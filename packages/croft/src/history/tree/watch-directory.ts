import { findInit } from '../../init/find-init.ts';
import type { Follower } from '../../init/followed-tree.ts';
import { createFollower } from '../../init/follower.ts';
import { type TouchedPath, TreeIndex } from './tree-index.ts';

/** Changes within this time are reported together. */
const coalesceMs = 50;

/**
 * Reports changes below open directories, without storing any. Resolves when every later change will be reported. The
 * descriptor stays the caller's. Ends with the signal.
 */
export function createDirectoryWatcher(follower: Follower = createFollower(findInit)) {
  return async (
    directoryFd: number,
    onChange: (changes: readonly TouchedPath[]) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    const following = await follower.open(directoryFd);
    const index = new TreeIndex();
    let timer: NodeJS.Timeout | undefined;
    let scanning = Promise.resolve();

    const scan = async (tell: (touches: readonly TouchedPath[]) => void) => {
      const touches = await index.absorb(await following.take());
      index.removed.clear();
      if (!signal.aborted && touches.length > 0) tell(touches);
    };
    const scanSoon = () => {
      timer = undefined;
      // If a scan fails, the next one finds the same changes.
      scanning = scanning.then(() => scan(onChange)).catch(() => {});
    };
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      following.close();
    });
    following.onChange(() => {
      if (!signal.aborted) timer ??= setTimeout(scanSoon, coalesceMs);
    });
    await scan(() => {});
    scanSoon();
    await scanning;
  };
}
