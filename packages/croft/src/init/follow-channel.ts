import { getSystemErrorName } from 'node:util';
import { fromFollower, readSightings, toFollower } from './follow-frames.ts';
import type { Sighting, Taken } from './following.ts';
import type { Frame } from './frames.ts';

interface Waiter {
  sightings: Sighting[];
  readonly answer: PromiseWithResolvers<Taken>;
}

interface ChannelParts {
  send(type: number, detail?: number, payload?: Buffer): void;
  /** Somebody waits, or does not any more. */
  onWaiting(added: 1 | -1): void;
  onChange(): void;
  /** The process is gone. */
  onLost(): void;
  onClose(): void;
}

export type Channel = ReturnType<typeof createChannel>;

/** A tree in the eyes of one process that follows it. */
export function createChannel({ send, onWaiting, onChange, onLost, onClose }: ChannelParts) {
  /** In the order in which they are answered. */
  const waiters: Waiter[] = [];
  let ended: Error | undefined;

  return {
    async open(payload: Buffer): Promise<void> {
      await ask(toFollower.open, payload);
    },
    take: () => ask(toFollower.take),
    setNotify: (isWanted: boolean) => send(toFollower.notify, isWanted ? 1 : 0),
    close(): void {
      if (!ended) send(toFollower.close);
      onClose();
      finish(new Error('nobody follows these files any more'));
    },
    lose(cause: Error): void {
      finish(cause);
      onLost();
    },
    onFrame({ type, detail, payload }: Frame): void {
      const [waiter] = waiters;
      if (type === fromFollower.changed) onChange();
      else if (type === fromFollower.sightings) readSightings(payload, waiter?.sightings ?? []);
      else if (type !== fromFollower.restart) answer(type, detail, payload);
      else if (waiter) waiter.sightings = [];
    },
  };

  function ask(type: number, payload?: Buffer): Promise<Taken> {
    if (ended) return Promise.reject(ended);
    const waiter: Waiter = { sightings: [], answer: Promise.withResolvers() };
    waiters.push(waiter);
    onWaiting(1);
    send(type, 0, payload);
    return waiter.answer.promise;
  }

  function answer(type: number, detail: number, payload: Buffer): void {
    const waiter = leave();
    const atNs = type === fromFollower.taken ? payload.readBigInt64LE() : 0n;
    if (type === fromFollower.failed) waiter?.answer.reject(toError(payload));
    else waiter?.answer.resolve({ isWhole: detail === 1, sightings: waiter.sightings, atNs });
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

function toError(payload: Buffer): Error {
  return new Error(`the files cannot be followed: ${getSystemErrorName(-payload.readInt32LE())}`);
}
