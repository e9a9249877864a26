import { findInit } from './find-init.ts';
import type { FollowedTree, Follower } from './followed-tree.ts';
import { createFollower } from './follower.ts';

/** The kernel gives each user a limited number of inotify instances, 128 by default. Each follower uses one. */
const maxFollowers = 8;

interface PooledFollower {
  readonly follower: Follower;
  /** The number of open trees of each account. */
  readonly trees: Map<string, number>;
}

/**
 * Keeps the trees of accounts apart. A follower reads one tree after the other, and the kernel queues the events of all
 * its trees together, so an account that changes very many files delays the calls of everybody with the same follower.
 * Each account has a follower of its own while there are fewer accounts than followers.
 */
export function createFollowerPool(create: () => Follower, most = maxFollowers) {
  const pool: PooledFollower[] = [];

  function choose(account: string): PooledFollower {
    const known = pool.find(({ trees }) => trees.has(account)) ?? pool.find(({ trees }) => trees.size === 0);
    if (known) return known;
    if (pool.length < most) {
      const added = { follower: create(), trees: new Map<string, number>() };
      pool.push(added);
      return added;
    }
    return pool.reduce((least, other) => (other.trees.size < least.trees.size ? other : least));
  }

  /** Returns the follower for trees of an account, or for trees that belong to no account. */
  return (account = ''): Follower => ({
    async open(directoryFd) {
      const { follower, trees } = choose(account);
      const leave = enter(trees, account);
      try {
        return closing(await follower.open(directoryFd), leave);
      } catch (thrown) {
        leave();
        throw thrown;
      }
    },
  });
}

/** Counts a tree of the account. Returns a function that takes it out again. */
function enter(trees: Map<string, number>, account: string): () => void {
  trees.set(account, (trees.get(account) ?? 0) + 1);
  return () => {
    const left = (trees.get(account) ?? 0) - 1;
    if (left > 0) trees.set(account, left);
    else trees.delete(account);
  };
}

function closing(tree: FollowedTree, leave: () => void): FollowedTree {
  let isClosed = false;
  return {
    ...tree,
    close() {
      if (!isClosed) leave();
      isClosed = true;
      tree.close();
    },
  };
}

/** The followers of the whole program. */
export const followerOf = createFollowerPool(() => createFollower(findInit));
