import type { SandboxDenial, SandboxLimits } from '../../core/commands/sandbox.ts';
import {
  type DiskAmount,
  differenceOf,
  exceeds,
  type FilesystemSpaceReader,
  filesystemsOf,
  fractionOf,
  largerOf,
  smallerOf,
  sumOf,
  unlimitedAmount,
  zeroAmount,
} from '../growth/disk-amount.ts';
import { createFreeSpaceGauge } from '../growth/free-space-gauge.ts';
import type { DiskGrowth } from '../growth/growth-tally.ts';
import type { MeasuringThread } from '../growth/measuring-thread.ts';

interface DiskWatchOptions {
  readonly limits: SandboxLimits;
  /** With less than this free on a filesystem, programs that still grow are killed. Default: 0. */
  readonly minFreeBytes?: number | undefined;
  readonly directories: readonly string[];
  readonly namespace: string | undefined;
  readonly finder: FilesystemSpaceReader;
  readonly thread: MeasuringThread;
}

const megabyte = 1024 * 1024;
/** Disk usage of a file at least, whatever its size. */
const bytesPerFile = 4096;
/** Bytes that programs may still write on a nearly full disk, so that deleting and truncating works. */
const shortSlackBytes = megabyte;
/** The kernel's file times come from a clock with coarse ticks. */
const clockSlackMs = 20;
/** Growth if the measurement failed. */
const unseen: DiskGrowth = { madeBytes: 0, madeFiles: 0, changedBytes: 0, isWhole: false };

/**
 * Detects when directories have grown beyond their limit. Reading free space costs nothing, and a sandbox cannot grow
 * without it falling, unless others free as much meanwhile. Others may use the space too, so a fall only triggers an
 * exact measurement.
 */
export function createDiskWatch(options: DiskWatchOptions) {
  const { limits, minFreeBytes = 0, directories, namespace, finder, thread } = options;
  const since = Date.now() - clockSlackMs;
  const gauge = createFreeSpaceGauge(filesystemsOf(directories), finder);
  const limit: DiskAmount = { bytes: limits.diskBytes, files: Math.ceil(limits.diskBytes / bytesPerFile) };
  const slack = fractionOf(limit, 1 / 20);
  let grown = zeroAmount;
  /** Amount that exists since programs were killed for it. Programs that clean it up must not be killed again. */
  let excused = zeroAmount;

  /**
   * Growth at the moment when the disk became nearly full. Programs that free space there survive, programs that grow
   * are killed.
   */
  let shortAt: DiskAmount | undefined;

  async function checkShort(): Promise<SandboxDenial | undefined> {
    if (shortAt && gauge.fallenFromMark().bytes < shortSlackBytes) return undefined;
    const allowed = shortAt && { ...unlimitedAmount, bytes: shortAt.bytes + shortSlackBytes };
    await measure(allowed ?? unlimitedAmount);
    if (allowed && exceeds(grown, allowed)) return toDenial('disk', limit, zeroAmount);
    shortAt ??= grown;
    return undefined;
  }

  return {
    /** Returns the limit that was exceeded, if any. */
    async check(): Promise<SandboxDenial | undefined> {
      await gauge.read();
      if (gauge.least() < minFreeBytes) return checkShort();
      shortAt = undefined;
      const allowed = largerOf(excused, allowance());
      if (!exceeds(gauge.fallenFromMark(), stepTo(allowed))) return undefined;
      await measure(allowed);
      if (exceeds(grown, allowed)) return toDenial(grown.bytes > allowed.bytes ? 'disk' : 'files', limit, grown);
      excused = smallerOf(excused, sumOf(grown, slack));
      return undefined;
    },
    /** Called after programs were killed for exceeding a limit. */
    async afterKill(): Promise<void> {
      await measure(unlimitedAmount);
      excused = sumOf(grown, slack);
      if (shortAt) shortAt = grown;
    },
  };

  /** Returns the allowed growth: the limit or, on a nearly full disk, less, at most half of what was free at first. */
  function allowance(): DiskAmount {
    const floor = Math.max(limit.bytes / 4, 256 * megabyte);
    return gauge.least() < floor ? { ...limit, bytes: Math.min(limit.bytes, floor, gauge.firstLeast / 2) } : limit;
  }

  /** Returns how far free space may fall before the next measurement: the less is still allowed, the less far. */
  function stepTo(allowed: DiskAmount): DiskAmount {
    const left = differenceOf(allowed, grown);
    return largerOf(slack, smallerOf(fractionOf(limit, 1 / 4), fractionOf(left, 1 / 2)));
  }

  async function measure(enough: DiskAmount): Promise<void> {
    gauge.mark();
    const fallen = gauge.fallen();
    const request = { directories, since, namespace, enoughBytes: enough.bytes, enoughFiles: enough.files };
    const growth = await thread.ask('growth', request).catch(() => unseen);
    // An older file cannot have grown by more than the free space that is gone.
    const changed = Math.min(growth.changedBytes, Math.max(0, fallen.bytes - growth.madeBytes));
    const found = { bytes: growth.madeBytes + changed, files: growth.madeFiles };
    // The part that could not be measured may be where all of the growth is.
    grown = growth.isWhole ? found : largerOf(found, fallen);
  }
}

function toDenial(rule: 'disk' | 'files', limit: DiskAmount, grown: DiskAmount): SandboxDenial {
  const isFull = rule === 'disk' && grown.bytes <= limit.bytes;
  const size = rule === 'disk' ? sizeText(limit.bytes) : `${limit.files} files`;
  const target = isFull ? 'the disk of this machine is nearly full' : size;
  const ask = isFull ? 'tell the operator' : 'ask the operator for a larger --limit disk';
  const next = `Delete what is not needed (files are still there), or ${ask}.`;
  return { layer: 'limit', rule, target, next };
}

export function sizeText(bytes: number): string {
  const megabytes = Math.round(bytes / megabyte);
  return megabytes >= 1024 && megabytes % 1024 === 0 ? `${megabytes / 1024} GB` : `${megabytes} MB`;
}
