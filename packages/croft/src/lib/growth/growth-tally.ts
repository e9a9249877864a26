import type { Stats } from 'node:fs';

export interface GrowthRequest {
  readonly directories: readonly string[];
  /** In milliseconds. What was made or changed from then on counts. */
  readonly since: number;
  /** Whose open files count too: a file can lose its name and keep its size. */
  readonly namespace: string | undefined;
  /** No need to look further once more than this was made. */
  readonly enoughBytes: number;
  readonly enoughFiles: number;
}

export interface Growth {
  /** Of what did not exist before. */
  readonly madeBytes: number;
  readonly madeFiles: number;
  /** Of what did, and was touched since: it has grown by all of that or by nothing. */
  readonly changedBytes: number;
  /** Whether all of it could be looked at. */
  readonly isWhole: boolean;
}

/** A tree of any size must not take any time. */
const maxEntries = 1_000_000;
const entriesPerStep = 64;

export type Tally = ReturnType<typeof createTally>;

/** Adds up what was made and changed. */
export function createTally({ since, enoughBytes, enoughFiles }: GrowthRequest) {
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
