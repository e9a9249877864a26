import { differenceOf, type Filesystem, largerOf, noRoom, type Room, type RoomFinder, sumOf } from './room.ts';

/** How the room on some filesystems falls. */
export interface RoomGauge {
  read(): Promise<void>;
  /** What is left where least is left, when it was last read. */
  least(): number;
  /** And when it was read first. */
  readonly firstLeast: number;
  /** Since there was most. */
  fallen(): Room;
  /** Since it was marked, or rose above that. */
  fallenFromMark(): Room;
  mark(): void;
}

export function createRoomGauge(filesystems: readonly Filesystem[], finder: RoomFinder): RoomGauge {
  const levels = filesystems.map((filesystem) => {
    const now = finder.now(filesystem);
    return { filesystem, now, peak: now, mark: now };
  });
  const least = () => Math.min(...levels.map(({ now }) => now.bytes));
  const fallenFrom = (start: 'peak' | 'mark') =>
    levels.map((level) => differenceOf(level[start], level.now)).reduce(sumOf, noRoom);
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
