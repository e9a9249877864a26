import { getSystemErrorName } from 'node:util';
import { fromFollower, readSightings, takenDetail, toFollower } from './follow-frames.ts';
import type { FollowedChanges, Sighting } from './followed-tree.ts';
import type { InitFrame } from './init-frames.ts';

type OnFound = (sightings: readonly Sighting[]) => void;

interface Waiter {
  sightings: Sighting[];
  readonly onFound?: OnFound | undefined;
  readonly answer: PromiseWithResolvers<FollowedChanges>;
}

interface ChannelParts {
  send(type: number, detail?: number, payload?: Buffer): void;
  /** Called when a request starts to wait (1) or stops waiting (-1). */
  onWaiting(added: 1 | -1): void;
  onChange(): void;
  /** Called when the follower process has ended. */
  onLost(): void;
  onClose(): void;
}

export type FollowChannel = ReturnType<typeof createFollowChannel>;

/** One tree in one follower process: sends requests and matches the answers to them. */
export function createFollowChannel({ send, onWaiting, onChange, onLost, onClose }: ChannelParts) {
  /** Waiting requests, in the order in which they are answered. */
  const waiters: Waiter[] = [];
  let ended: Error | undefined;

  return {
    async open(payload: Buffer): Promise<void> {
      await ask(toFollower.open, payload);
    },
    take: (onFound?: OnFound) => ask(toFollower.take, undefined, onFound),
    setNotify: (isWanted: boolean) => send(toFollower.notify, isWanted ? 1 : 0),
    close(): void {
      if (!ended) send(toFollower.close);
      onClose();
      finish(new Error('these files are no longer followed'));
    },
    lose(cause: Error): void {
      finish(cause);
      onLost();
    },
    onFrame({ type, detail, payload }: InitFrame): void {
      const [waiter] = waiters;
      if (type === fromFollower.changed) onChange();
      else if (type === fromFollower.sightings) take(payload, waiter);
      else if (type !== fromFollower.restart) answer(type, detail, payload);
      else if (waiter) waiter.sightings = [];
    },
  };

  function take(payload: Buffer, waiter: Waiter | undefined): void {
    const sightings = waiter?.sightings ?? [];
    const known = sightings.length;
    readSightings(payload, sightings);
    if (waiter?.onFound) waiter.onFound(sightings.slice(known));
  }

  function ask(type: number, payload?: Buffer, onFound?: OnFound): Promise<FollowedChanges> {
    if (ended) return Promise.reject(ended);
    const waiter: Waiter = { sightings: [], onFound, answer: Promise.withResolvers() };
    waiters.push(waiter);
    onWaiting(1);
    send(type, 0, payload);
    return waiter.answer.promise;
  }

  function answer(type: number, detail: number, payload: Buffer): void {
    const waiter = leave();
    const atNs = type === fromFollower.taken ? payload.readBigInt64LE() : 0n;
    if (type === fromFollower.failed) waiter?.answer.reject(toError(payload));
    else waiter?.answer.resolve({ ...readDetail(detail), sightings: waiter.sightings, atNs });
  }

  function finish(cause: Error): void {
    ended ??= cause;
    for (let waiter = leave(); waiter; waiter = leave()) waiter.answer.reject(ended);
  }

  function leave(): Waiter | undefined {
    const waiter = waiters.shift();
    if (waiter) onWaiting(-1);
    return waiter;
  }
}

function readDetail(detail: number): Pick<FollowedChanges, 'isWhole' | 'isPolled'> {
  const isWhole = (detail & takenDetail.whole) !== 0;
  return (detail & takenDetail.polled) === 0 ? { isWhole } : { isWhole, isPolled: true };
}

function toError(payload: Buffer): Error {
  return new Error(`the files cannot be followed: ${getSystemErrorName(-payload.readInt32LE())}`);
}
