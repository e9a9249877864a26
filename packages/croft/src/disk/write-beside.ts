import { closeSync, constants, fchmodSync, type Stats, write as writeFrom, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { openAt, statOf } from './handles.ts';
import { giveTo } from './ownership.ts';
import type { Place } from './settle.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const writeChunk = promisify(writeFrom);

/** Below this a write to the page cache takes less time than handing it to a thread. */
const maxSyncBytes = 256 * 1024;

export interface BesideOptions {
  readonly place: Place;
  readonly bytes: Uint8Array;
  /** The file it shall replace, whose owner and mode it gets. */
  readonly before: Stats | undefined;
  /** Left out: as `before`, and a new one cannot be run. */
  readonly isExecutable?: boolean | undefined;
}

/** A new file with all the bytes, not yet durable. */
export async function writeBeside(options: BesideOptions): Promise<{ readonly handle: number } & Disposable> {
  const { place, bytes, before, isExecutable } = options;
  const handle = openNew(place);
  try {
    giveTo(handle, before ?? statOf(place.directory));
    if (before || isExecutable) fchmodSync(handle, modeOf(before ?? statOf(handle), isExecutable));
    await writeAll(handle, bytes);
    return { handle, [Symbol.dispose]: () => closeSync(handle) };
  } catch (thrown) {
    closeSync(handle);
    throw thrown;
  }
}

/** Fails when anything is there already. */
export function openNew({ directory, name }: Place): number {
  return openAt(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o666);
}

/** Whoever may read it may run it, if anybody may. */
function modeOf({ mode }: Stats, isExecutable: boolean | undefined): number {
  const known = mode & 0o777;
  if (isExecutable === undefined) return known;
  return isExecutable ? known | ((known & 0o444) >> 2) | 0o100 : known & ~0o111;
}

async function writeAll(handle: number, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    const isSmall = bytes.byteLength - offset <= maxSyncBytes;
    offset += isSmall ? writeSync(handle, bytes, offset) : (await writeChunk(handle, bytes, offset)).bytesWritten;
  }
}
