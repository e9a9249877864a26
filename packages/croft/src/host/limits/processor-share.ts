import type { Group } from '../../lib/cgroup/find-groups.ts';

/** Processor time that the sandboxes of an account may use at once before those of others go first. */
const burstMs = 500;
/**
 * Rate at which all computing accounts together regain their burst, as a part of one processor: an account that uses
 * less always goes first.
 */
const regained = 0.2;
/** Most debt of an account: after an hour of computing it waits no longer than after some seconds. */
const maxDebtMs = 2000;
/** A sandbox without running commands is not checked, so its account is taken to rest after this time. */
const restingMs = 1000;

/** Processor time that the sandboxes of one account have left. */
interface Credit {
  leftMs: number;
  countedAt: number;
  /** Whether the burst is used up, until half of it is regained. */
  isUsedUp: boolean;
  /** When at least half of the burst was last seen used. */
  computingAt: number;
  sandboxes: number;
}

/** The credit of each account, by its id. A sandbox without an account has its own credit. */
export type Credits = Map<string | symbol, Credit>;
const everybody: Credits = new Map();

/**
 * Keeps short commands fast while others compute: the sandboxes of an account that has used up its burst run only when
 * others leave a processor free, until half of the burst is regained. All sandboxes of an account use one burst, so a
 * further sandbox brings no further time. Computing accounts share equally, and an account that is alone has the whole
 * machine.
 */
export function createProcessorShare(
  { processorMs, giveWay }: Pick<Group, 'processorMs' | 'giveWay'>,
  account: string | symbol = Symbol('sandbox without an account'),
  credits: Credits = everybody,
) {
  const credit = creditOf(account, credits);
  credit.sandboxes++;
  let [usedMs, isLast] = [0, false];
  apply();

  function apply(): void {
    if (credit.isUsedUp !== isLast) giveWay(credit.isUsedUp);
    isLast = credit.isUsedUp;
  }

  async function check(): Promise<undefined> {
    const used = processorMs?.() ?? 0;
    count(credit, used - usedMs, credits);
    usedMs = used;
    apply();
  }

  return {
    check,
    /** Called when a command starts. A sandbox that was last may have rested since, and its account may compute. */
    start(): void {
      // The check fails if the sandbox is gone.
      if (isLast || credit.isUsedUp) check().catch(() => {});
    },
    stop(): void {
      credit.sandboxes--;
    },
  };
}

function creditOf(account: string | symbol, credits: Credits): Credit {
  const now = performance.now();
  // An account without sandboxes is forgotten once its debt is paid, and not before.
  for (const [other, credit] of credits) {
    if (credit.sandboxes === 0 && count(credit, 0, credits).leftMs === burstMs) credits.delete(other);
  }
  const known = credits.get(account);
  if (known) return known;
  const made = { leftMs: burstMs, countedAt: now, isUsedUp: false, computingAt: -restingMs, sandboxes: 0 };
  credits.set(account, made);
  return made;
}

function count(credit: Credit, usedMs: number, credits: Credits): Credit {
  const now = performance.now();
  const share = regained / Math.max(1, countComputing(credits, now));
  const left = credit.leftMs + (now - credit.countedAt) * share - usedMs;
  credit.leftMs = Math.max(-maxDebtMs, Math.min(burstMs, left));
  credit.countedAt = now;
  credit.isUsedUp = credit.leftMs < (credit.isUsedUp ? burstMs / 2 : 0);
  if (usedMs > 0 && credit.leftMs < burstMs / 2) credit.computingAt = now;
  return credit;
}

function countComputing(credits: Credits, now: number): number {
  let computing = 0;
  for (const { computingAt } of credits.values()) if (now - computingAt < restingMs) computing++;
  return computing;
}
