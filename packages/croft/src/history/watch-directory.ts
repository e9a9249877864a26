import { createInitFinder } from '../init/binary.ts';
import { createFollower } from '../init/follower.ts';
import type { Follower } from '../init/following.ts';
import { type Touch, TreeIndex } from './tree-index.ts';

/** Changes that come together are told together. */
const coalesceMs = 50;

/**
 * Tells what changes below open directories, without keeping any of it. Resolves when everything from then on is told;
 * the handle stays the caller's. Ends with the signal.
 */
export function createDirectoryWatcher(follower: Follower = createFollower(createInitFinder())) {
  return async (
    directory: number,
    onChange: (changes: readonly Touch[]) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    const following = await follower.open(directory);
    const index = new TreeIndex();
    let timer: NodeJS.Timeout | undefined;
    let looking = Promise.resolve();

    const look = async (tell: (touches: readonly Touch[]) => void) => {
      const touches = await index.absorb(await following.take());
      index.removed.clear();
      if (!signal.aborted && touches.length > 0) tell(touches);
    };
    const lookSoon = () => {
      timer = undefined;
      // One that fails is made up for by the next, which finds the same.
      looking = looking.then(() => look(onChange)).catch(() => {});
    };
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      following.close();
    });
    following.onChange(() => {
      if (!signal.aborted) timer ??= setTimeout(lookSoon, coalesceMs);
    });
    await look(() => {});
    lookSoon();
    await looking;
  };
}
