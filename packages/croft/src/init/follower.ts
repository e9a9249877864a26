import { closeSync, constants, openSync } from 'node:fs';
import type { Channel } from './follow-channel.ts';
import { type FollowLimits, type FollowLine, LineEnded, openFollowLine } from './follow-line.ts';
import type { Follower, Following, Taken } from './following.ts';

/** One that dies of what it is asked would do so for ever. */
const maxTries = 3;

/**
 * Follows directory trees by way of one small process (`native/follow.c`), which begins with the first and ends with us.
 * Should it end before, another begins with the next `take`, which is whole then.
 */
export function createFollower(findInit: () => string, limits: FollowLimits = {}): Follower {
  let opening: Promise<FollowLine> | undefined;
  const reach = () => {
    opening ??= openFollowLine(findInit(), limits, () => {
      opening = undefined;
    });
    return opening;
  };
  return {
    async open(directory) {
      // Ours, because whoever asks may close theirs, and another that gets its number is not what was asked for.
      const handle = openSync(`/proc/self/fd/${directory}`, constants.O_RDONLY | constants.O_DIRECTORY);
      const following = createFollowing(handle, reach);
      await following.reach().catch((thrown) => {
        following.close();
        throw thrown;
      });
      return following;
    },
  };
}

function createFollowing(handle: number, reachLine: () => Promise<FollowLine>) {
  const listeners = new Set<() => void>();
  let channel: Promise<Channel> | undefined;
  let isClosed = false;

  const following = {
    /** The tree as the process that runs now has it. */
    reach(): Promise<Channel> {
      channel ??= connect();
      return channel;
    },
    take: () => takeWithin(maxTries),
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
  return following satisfies Following;

  async function takeWithin(tries: number): Promise<Taken> {
    try {
      return await (await following.reach()).take();
    } catch (thrown) {
      if (!(thrown instanceof LineEnded) || tries === 1) throw thrown;
    }
    return takeWithin(tries - 1);
  }

  function tell(): void {
    // Not from here: what they throw is not ours.
    for (const listener of listeners) queueMicrotask(listener);
  }

  function setNotify(isWanted: boolean): void {
    channel?.then((it) => it.setNotify(isWanted)).catch(() => {});
  }

  function connect(): Promise<Channel> {
    const mine = openChannel(() => {
      forget();
      // What changes until the next look, nobody would tell of.
      tell();
    });
    const forget = () => {
      if (channel === mine) channel = undefined;
    };
    mine.catch(forget);
    return mine;
  }

  async function openChannel(onLost: () => void): Promise<Channel> {
    const line = await reachLine();
    if (isClosed) throw new Error('nobody follows these files any more');
    const made = await line.open(handle, { onChange: tell, onLost });
    if (listeners.size > 0) made.setNotify(true);
    return made;
  }
}
