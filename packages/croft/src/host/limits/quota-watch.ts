import type { SandboxDenial } from '../../core/commands/sandbox.ts';
import { type FilesystemSpaceReader, filesystemsOf } from '../growth/disk-amount.ts';
import { createFreeSpaceGauge } from '../growth/free-space-gauge.ts';

interface QuotaWatchOptions {
  /** Directory of the workspace. */
  readonly directory: string;
  readonly finder: FilesystemSpaceReader;
  /** Bytes that may still be added to the workspace. */
  left(): Promise<number>;
}

/** Free space must fall by at least this much before the workspace is measured. */
const leastStep = 1024 * 1024;

/**
 * Detects when a workspace has grown beyond its quota. Measuring is expensive, so it happens only after the free space
 * of its disk has fallen by a part of the remaining quota.
 */
export function createQuotaWatch({ directory, finder, left }: QuotaWatchOptions) {
  const gauge = createFreeSpaceGauge(filesystemsOf([directory]), finder);
  let step = leastStep;
  return {
    async check(): Promise<SandboxDenial | undefined> {
      await gauge.read();
      if (gauge.fallenFromMark().bytes < step) return undefined;
      gauge.mark();
      const leftBytes = await left();
      step = Math.max(leastStep, leftBytes / 4);
      return leftBytes < 0 ? quotaDenial : undefined;
    },
  };
}

const quotaDenial: SandboxDenial = {
  layer: 'limit',
  rule: 'quota',
  target: 'more than the quota of the workspace',
  next: 'Delete what is not needed, write less, or ask for a larger quota.',
};
