import type { Stats } from 'node:fs';

export interface DiskGrowthRequest {
  readonly directories: readonly string[];
  /** Time in milliseconds. Files created or changed from then on count. */
  readonly since: number;
  /** PID namespace whose open files count too: a deleted file keeps its size while it is open. */
  readonly namespace: string | undefined;
  /** Measuring stops once more than this was created. */
  readonly enoughBytes: number;
  readonly enoughFiles: number;
}

export interface DiskGrowth {
  /** Size and number of files created since then. */
  readonly madeBytes: number;
  readonly madeFiles: number;
  /** Size of older files changed since then. Each may have grown by all of its size or by nothing. */
  readonly changedBytes: number;
  /** Whether everything could be measured. */
  readonly isWhole: boolean;
}

/** Entries that are counted at most, so that a huge tree does not take unlimited time. */
const maxEntries = 1_000_000;
const entriesPerStep = 64;

export type GrowthTally = ReturnType<typeof createGrowthTally>;

/** Adds up created and changed files. */
export function createGrowthTally({ since, enoughBytes, enoughFiles }: DiskGrowthRequest) {
  const growth = { madeBytes: 0, madeFiles: 0, changedBytes: 0, isWhole: true };
  const seen = new Set<string>();
  const devices = new Set<number>();
  let entries = 0;
  return {
    growth,
    devices,
    isStepOver: () => entries % entriesPerStep === 0,
    isDone: () => growth.madeBytes > enoughBytes || growth.madeFiles > enoughFiles || entries > maxEntries,
    add({ dev, ino, nlink, blocks, ctimeMs, birthtimeMs }: Stats): void {
      if (++entries > maxEntries) growth.isWhole = false;
      if (ctimeMs < since || (nlink !== 1 && isRepeated(seen, `${dev}:${ino}`))) return;
      const isMade = birthtimeMs >= since;
      growth[isMade ? 'madeBytes' : 'changedBytes'] += blocks * 512;
      if (isMade) growth.madeFiles++;
    },
  };
}

function isRepeated(seen: Set<string>, key: string): boolean {
  return seen.has(key) || !seen.add(key);
}
