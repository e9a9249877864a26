import { setTimeout as pause } from 'node:timers/promises';
import { startPlatform } from '../agents/ground.ts';
import { type FaultyCable, startFaultyCable } from '../link/faulty-cable.ts';
import { startRemote } from './ground.ts';

export type Cabled = Awaited<ReturnType<typeof startCabled>>;

/** A server and a runner with a cable between them that can be cut. */
export async function startCabled() {
  const platform = await startPlatform(['--runner-heartbeat', '0.5']);
  const cable = await startFaultyCable(platform.url);
  const remote = await startRemote(platform, { url: cable.url });
  return {
    ...{ platform, cable, remote },
    async [Symbol.asyncDispose]() {
      await remote[Symbol.asyncDispose]();
      await cable[Symbol.asyncDispose]();
      await platform[Symbol.asyncDispose]();
    },
  };
}

/** A few times, each after the runner has come back, until the work is done: one that is never let through waits longer and longer. */
export async function during<T>(cable: FaultyCable, fault: () => void, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const { signal } = done;
  const faults = (async () => {
    for (let left = 3; left > 0 && !signal.aborted; left--) {
      const before = cable.count();
      fault();
      while (cable.count() === before && !signal.aborted) await pause(50, undefined, { signal }).catch(() => {});
      await pause(100, undefined, { signal }).catch(() => {});
    }
  })();
  try {
    return await work;
  } finally {
    done.abort();
    await faults;
  }
}
