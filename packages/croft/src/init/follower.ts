import { closeSync, constants, openSync } from 'node:fs';
import type { FollowChannel } from './follow-channel.ts';
import type { FollowedChanges, FollowedTree, Follower, Sighting } from './followed-tree.ts';
import { FollowerEnded, type FollowerProcess, type FollowLimits, openFollowerProcess } from './follower-process.ts';

type OnFound = (sightings: readonly Sighting[]) => void;

/** Limit of tries, because a request that crashes the follower would crash it for ever. */
const maxTries = 3;

/**
 * Follows directory trees with one small process (`native/follow/follow.c`), which starts with the first tree and ends
 * with this process. If it ends earlier, the next `take` starts another one and reports the whole tree.
 */
export function createFollower(findInit: () => string, limits: FollowLimits = {}): Follower {
  let opening: Promise<FollowerProcess> | undefined;
  const reach = () => {
    opening ??= openFollowerProcess(findInit(), limits, () => {
      opening = undefined;
    });
    return opening;
  };
  return {
    async open(directoryFd) {
      // Opens its own descriptor, because the caller may close theirs, and its number may then refer to another
      // directory.
      const handle = openSync(`/proc/self/fd/${directoryFd}`, constants.O_RDONLY | constants.O_DIRECTORY);
      const following = createFollowedTree(handle, reach);
      await following.reach().catch((thrown) => {
        following.close();
        throw thrown;
      });
      return following;
    },
  };
}

function createFollowedTree(handle: number, reachProcess: () => Promise<FollowerProcess>) {
  const listeners = new Set<() => void>();
  let channel: Promise<FollowChannel> | undefined;
  let isClosed = false;

  const following = {
    /** Returns the channel to the tree in the current follower process. */
    reach(): Promise<FollowChannel> {
      channel ??= connect();
      return channel;
    },
    take: (onFound?: OnFound) => takeWithin(maxTries, onFound),
    onChange(listener: () => void): Disposable {
      const own = () => listener();
      listeners.add(own);
      if (listeners.size === 1) setNotify(true);
      return {
        [Symbol.dispose]() {
          if (listeners.delete(own) && listeners.size === 0) setNotify(false);
        },
      };
    },
    close(): void {
      if (isClosed) return;
      isClosed = true;
      listeners.clear();
      closeSync(handle);
      channel?.then((it) => it.close()).catch(() => {});
    },
  };
  return following satisfies FollowedTree;

  async function takeWithin(tries: number, onFound?: OnFound): Promise<FollowedChanges> {
    try {
      return await (await following.reach()).take(onFound);
    } catch (thrown) {
      if (!(thrown instanceof FollowerEnded) || tries === 1) throw thrown;
    }
    return takeWithin(tries - 1, onFound);
  }

  function tell(): void {
    // Listeners run in their own microtask, so that their errors do not reach this code.
    for (const listener of listeners) queueMicrotask(listener);
  }

  function setNotify(isWanted: boolean): void {
    channel?.then((it) => it.setNotify(isWanted)).catch(() => {});
  }

  function connect(): Promise<FollowChannel> {
    const mine = openChannel(() => {
      forget();
      // Until the next `take` no process reports changes, so listeners are called once more.
      tell();
    });
    const forget = () => {
      if (channel === mine) channel = undefined;
    };
    mine.catch(forget);
    return mine;
  }

  async function openChannel(onLost: () => void): Promise<FollowChannel> {
    const line = await reachProcess();
    if (isClosed) throw new Error('these files are no longer followed');
    const made = await line.open(handle, { onChange: tell, onLost });
    if (listeners.size > 0) made.setNotify(true);
    return made;
  }
}
