import type { Denial, SandboxLimits } from '../core/commands/sandbox.ts';
import type { Growth } from '../lib/growth/growth-tally.ts';
import type { MeasuringThread } from '../lib/growth/measuring-thread.ts';
import {
  differenceOf,
  endlessRoom,
  exceeds,
  filesystemsOf,
  largerOf,
  noRoom,
  partOf,
  type Room,
  type RoomFinder,
  smallerOf,
  sumOf,
} from '../lib/growth/room.ts';
import { createRoomGauge } from '../lib/growth/room-gauge.ts';

export interface DiskWatchOptions {
  readonly limits: SandboxLimits;
  readonly directories: readonly string[];
  readonly namespace: string | undefined;
  readonly finder: RoomFinder;
  readonly thread: MeasuringThread;
}

const megabyte = 1024 * 1024;
/** What a file costs a filesystem at least, whatever is in it. */
const bytesPerFile = 4096;
/** The kernel writes down times by a clock that ticks. */
const clockSlackMs = 20;
/** What nobody could look at. */
const unseen: Growth = { madeBytes: 0, madeFiles: 0, changedBytes: 0, isWhole: false };

/**
 * Finds out when directories have grown too much. Asking what a filesystem has left costs nothing, and a sandbox cannot
 * grow without it falling, unless others make as much room meanwhile. But others may take it too: so it only tells
 * when to look at what is really there.
 */
export function createDiskWatch({ limits, directories, namespace, finder, thread }: DiskWatchOptions) {
  const since = Date.now() - clockSlackMs;
  const gauge = createRoomGauge(filesystemsOf(directories), finder);
  const limit: Room = { bytes: limits.diskBytes, files: Math.ceil(limits.diskBytes / bytesPerFile) };
  const slack = partOf(limit, 1 / 20);
  let grown = noRoom;
  /** So much is there since programs were ended for it. Those that clean it up must be let live. */
  let excused = noRoom;

  return {
    /** What was broken, if anything was. */
    async check(): Promise<Denial | undefined> {
      await gauge.read();
      const allowed = largerOf(excused, allowance());
      if (!exceeds(gauge.fallenFromMark(), stepTo(allowed))) return undefined;
      await look(allowed);
      if (exceeds(grown, allowed)) return toDenial(grown.bytes > allowed.bytes ? 'disk' : 'files', limit, grown);
      excused = smallerOf(excused, sumOf(grown, slack));
      return undefined;
    },
    /** After programs were ended for what was broken. */
    async settle(): Promise<void> {
      await look(endlessRoom);
      excused = sumOf(grown, slack);
    },
  };

  /** On a disk that is nearly full less than the limit, and no more than half of what was left at first. */
  function allowance(): Room {
    const floor = Math.max(limit.bytes / 4, 256 * megabyte);
    return gauge.least() < floor ? { ...limit, bytes: Math.min(limit.bytes, floor, gauge.firstLeast / 2) } : limit;
  }

  /** How far the room falls before it is looked at again: the less is allowed yet, the less far. */
  function stepTo(allowed: Room): Room {
    const left = differenceOf(allowed, grown);
    return largerOf(slack, smallerOf(partOf(limit, 1 / 4), partOf(left, 1 / 2)));
  }

  async function look(enough: Room): Promise<void> {
    gauge.mark();
    const fallen = gauge.fallen();
    const request = { directories, since, namespace, enoughBytes: enough.bytes, enoughFiles: enough.files };
    const growth = await thread.ask('growth', request).catch(() => unseen);
    // A file that was there before has not grown by more than what is gone.
    const changed = Math.min(growth.changedBytes, Math.max(0, fallen.bytes - growth.madeBytes));
    const found = { bytes: growth.madeBytes + changed, files: growth.madeFiles };
    // What could not be looked at may be where all of it went.
    grown = growth.isWhole ? found : largerOf(found, fallen);
  }
}

function toDenial(rule: 'disk' | 'files', limit: Room, grown: Room): Denial {
  const isFull = rule === 'disk' && grown.bytes <= limit.bytes;
  const size = rule === 'disk' ? sizeText(limit.bytes) : `${limit.files} files`;
  const target = isFull ? 'the disk of this machine is nearly full' : size;
  const next = 'Delete what is not needed (files are still there), or ask the operator for a larger --limit disk.';
  return { layer: 'limit', rule, target, next };
}

export function sizeText(bytes: number): string {
  const megabytes = Math.round(bytes / megabyte);
  return megabytes >= 1024 && megabytes % 1024 === 0 ? `${megabytes / 1024} GB` : `${megabytes} MB`;
}
