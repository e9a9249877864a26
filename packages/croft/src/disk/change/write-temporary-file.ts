import { closeSync, constants, fchmodSync, type Stats, write as writeFrom, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { NameInDirectory } from '../durable/replace-durably.ts';
import { giveTo } from '../paths/give-to-directory-owner.ts';
import { openAt, statOf } from '../paths/handles.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const writeChunk = promisify(writeFrom);

/** A smaller write to the page cache takes less time on this thread than handing it to another. */
const maxSyncBytes = 256 * 1024;

interface TemporaryFileOptions {
  readonly location: NameInDirectory;
  readonly bytes: Uint8Array;
  /** The replaced file, whose owner and mode the new file gets. */
  readonly before: Stats | undefined;
  /** Defaults to the mode of `before`; a new file is not executable. */
  readonly isExecutable?: boolean | undefined;
}

/** Creates a temporary file with all the bytes, not yet durable. */
export async function writeTemporaryFile(
  options: TemporaryFileOptions,
): Promise<{ readonly handle: number } & Disposable> {
  const { location, bytes, before, isExecutable } = options;
  const handle = openNew(location);
  try {
    giveTo(handle, before ?? statOf(location.directoryFd));
    if (before || isExecutable) fchmodSync(handle, modeOf(before ?? statOf(handle), isExecutable));
    await writeAll(handle, bytes);
    return { handle, [Symbol.dispose]: () => closeSync(handle) };
  } catch (thrown) {
    closeSync(handle);
    throw thrown;
  }
}

/** Creates a file. Fails if the name is taken. */
export function openNew({ directoryFd, name }: NameInDirectory): number {
  return openAt(directoryFd, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o666);
}

/** An executable file can be run by everybody who can read it. */
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
