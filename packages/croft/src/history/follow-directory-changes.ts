import { followerOf } from '../init/follower-pool.ts';
import { TreeIndex } from './tree/tree-index.ts';

/** One reader's changes of a directory, since its own last call. */
export interface FollowedPaths {
  /** Paths that may have changed since the last call; `everything` at the first one. */
  take(): Promise<ReadonlySet<string> | 'everything'>;
  close(): void;
}

/**
 * Follows a directory that has no history. The process that follows all trees of this machine shares its kernel watches
 * between them. The descriptor stays the caller's.
 */
export async function followDirectoryChanges(directoryFd: number): Promise<FollowedPaths> {
  const following = await followerOf().open(directoryFd);
  const index = new TreeIndex();
  let isFirst = true;
  return {
    async take() {
      const touched = await index.absorb(await following.take());
      index.removed.clear();
      const wasFirst = isFirst;
      isFirst = false;
      return wasFirst ? 'everything' : new Set(touched.map(({ path }) => path));
    },
    close: () => following.close(),
  };
}
