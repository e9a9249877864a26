import { setTimeout as pause } from 'node:timers/promises';
import { type FaultyCable, startFaultyCable } from '../support/faults/faulty-cable.ts';
import { startPlatform } from '../support/servers/platform.ts';
import { startRemote } from './runner-fixture.ts';

export type RunnerWithCable = Awaited<ReturnType<typeof startRunnerWithCable>>;

/** Starts a server and a runner with a faulty cable between them. */
export async function startRunnerWithCable() {
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

/**
 * Causes the fault a few times, each time after the runner has reconnected, until the work is done. A runner that never
 * gets through waits longer and longer.
 */
export async function withFaultsDuring<T>(cable: FaultyCable, fault: () => void, work: Promise<T>): Promise<T> {
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
