import type { Group } from '../../lib/cgroup/find-groups.ts';

/** Processor time that a sandbox may use at once before other sandboxes go first. */
const burstMs = 500;
/**
 * Rate at which all computing sandboxes together regain their burst, as a part of one processor: a sandbox that uses
 * less always goes first.
 */
const regained = 0.2;
/** Most debt of a sandbox: after an hour of computing it waits no longer than after some seconds. */
const maxDebtMs = 2000;

/** Sandboxes that have used at least half of their burst, and when that was last observed. */
type Computing = Map<symbol, number>;
const everybody: Computing = new Map();
/** A sandbox without running commands is not checked, and forgotten after this time. */
const forgottenMs = 1000;

function countComputing(computing: Computing, now: number): number {
  for (const [sandbox, seenAt] of computing) if (now - seenAt > forgottenMs) computing.delete(sandbox);
  return computing.size;
}

/**
 * Keeps short commands fast while other sandboxes compute: a sandbox that has used up its burst runs only when others
 * leave a processor free, until it has regained half of the burst. Computing sandboxes share equally, and a sandbox
 * that is alone has the whole machine.
 */
export function createProcessorShare(
  { processorMs, giveWay }: Pick<Group, 'processorMs' | 'giveWay'>,
  computing: Computing = everybody,
) {
  const own = Symbol('sandbox');
  let [credit, isLast] = [burstMs, false];
  let [usedMs, atMs] = [0, performance.now()];

  function count(now: number): void {
    const used = processorMs?.() ?? 0;
    const share = regained / Math.max(1, countComputing(computing, now));
    const change = (now - atMs) * share - (used - usedMs);
    credit = Math.max(-maxDebtMs, Math.min(burstMs, credit + change));
    [usedMs, atMs] = [used, now];
    if (credit < burstMs / 2) computing.set(own, now);
    else computing.delete(own);
  }

  return {
    async check(): Promise<undefined> {
      count(performance.now());
      const shallBeLast = isLast ? credit < burstMs / 2 : credit < 0;
      if (shallBeLast !== isLast) giveWay(shallBeLast);
      isLast = shallBeLast;
    },
  };
}
