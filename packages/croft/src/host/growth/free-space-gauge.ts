import {
  type DiskAmount,
  differenceOf,
  type Filesystem,
  type FilesystemSpaceReader,
  largerOf,
  sumOf,
  zeroAmount,
} from './disk-amount.ts';

/** Measures how the free space of filesystems falls. */
interface FreeSpaceGauge {
  read(): Promise<void>;
  /** Free bytes of the fullest filesystem at the last read. */
  least(): number;
  /** The same at the first read. */
  readonly firstLeast: number;
  /** How far free space has fallen since its highest value. */
  fallen(): DiskAmount;
  /** How far free space has fallen since `mark`, or since a later higher value. */
  fallenFromMark(): DiskAmount;
  mark(): void;
}

export function createFreeSpaceGauge(
  filesystems: readonly Filesystem[],
  finder: FilesystemSpaceReader,
): FreeSpaceGauge {
  const levels = filesystems.map((filesystem) => {
    const now = finder.now(filesystem);
    return { filesystem, now, peak: now, mark: now };
  });
  const least = () => Math.min(...levels.map(({ now }) => now.bytes));
  const fallenFrom = (start: 'peak' | 'mark') =>
    levels.map((level) => differenceOf(level[start], level.now)).reduce(sumOf, zeroAmount);
  return {
    async read() {
      for (const level of levels) {
        level.now = await finder.recent(level.filesystem);
        level.peak = largerOf(level.peak, level.now);
        level.mark = largerOf(level.mark, level.now);
      }
    },
    least,
    firstLeast: least(),
    fallen: () => fallenFrom('peak'),
    fallenFromMark: () => fallenFrom('mark'),
    mark() {
      for (const level of levels) level.mark = level.now;
    },
  };
}
