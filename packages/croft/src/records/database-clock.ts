import type { RecordsClock } from '../core/accounts/ports/records.ts';

/** A slower measurement says too little about when the database read its clock. */
const maxMeasureMs = 2000;

/**
 * The time of the database, computed from the last measurement and the monotonic clock. The wall clock of this machine
 * has no influence, whether it is wrong or somebody sets it. `readMs` asks the database for milliseconds since 1970.
 */
export function createDatabaseClock(readMs: () => Promise<number>): RecordsClock {
  /** Milliseconds since 1970 at `performance.now() === 0`. */
  let base: number | undefined;
  return {
    now: () => (base === undefined ? new Date() : new Date(base + performance.now())),
    async measure() {
      const before = performance.now();
      const ms = await readMs();
      const after = performance.now();
      const isGood = Number.isFinite(ms) && (after - before < maxMeasureMs || base === undefined);
      if (isGood) base = ms - (before + after) / 2;
    },
  };
}
